// SPDX-License-Identifier: GPL-2.0-only
// Deep inlining: templates in templates, lambdas, the standard library, recursion, statics.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

std::string program_name = "inlining";
thread_local std::vector<int> scratch(16, 1);

template <int Depth> struct Nest {
	static inline int go(int x) { return x & Depth ? Nest<Depth - 1>::go(x + Depth) * 3 : Nest<Depth - 1>::go(x ^ Depth); }
};
template <> struct Nest<0> {
	static inline int go(int x) { return x > 0 ? x % 7 : -x; }
};

template <class F, class... Args> auto forward_to(F &&f, Args &&...args) { return f(std::forward<Args>(args)...); }

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Square final : Shape {
	double side;
	explicit Square(double s) : side(s) {}
	double area() const override { return side * side; }
};
struct Circle final : Shape {
	double radius;
	explicit Circle(double r) : radius(r) {}
	double area() const override { return 3.14159 * radius * radius; }
};

__attribute__((noinline)) double total(const std::vector<Shape *> &shapes)
{
	return std::accumulate(shapes.begin(), shapes.end(), 0.0, [](double sum, const Shape *shape) { return sum + shape->area(); });
}

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__attribute__((noinline)) long sum(const int *values, int nr)
{
	long result = 0;
	for (int i = 0; i < nr; i++)
		result += values[i] * 3 + (values[i] > 4 ? 1 : 2);
	return result;
}

} // namespace

std::vector<std::string> words(int nr)
{
	std::vector<std::string> result;
	for (int i = 0; i < nr; i++)
		result.push_back(std::to_string(i * 7919 % 1009) + (i % 3 ? "x" : "yy"));
	return result;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? std::atoi(argv[1]) : 1000, check = 0;
	std::map<std::string, int> counts;
	std::vector<Shape *> shapes;
	std::vector<int> values(static_cast<size_t>(nr));

	for (const auto &word : words(nr))
		counts[word]++;
	for (int i = 0; i < nr; i++) {
		check += forward_to([](int x) { return Nest<24>::go(x); }, i);
		if (i % 3)
			shapes.push_back(new Square(i));
		else
			shapes.push_back(new Circle(i));
	}
	std::iota(values.begin(), values.end(), 1);
	std::sort(values.begin(), values.end(), [](int a, int b) { return Nest<6>::go(a) < Nest<6>::go(b); });
	std::function<int(int)> indirect = nr % 2 ? fibonacci : [](int x) { return x + 1; };
	check += indirect(18) + scratch[3];
	std::printf("%s %zu %d %.0f %ld\n", program_name.c_str(), counts.size(), check, total(shapes), sum(values.data(), nr));
	for (Shape *shape : shapes)
		delete shape;
	return 0;
}
