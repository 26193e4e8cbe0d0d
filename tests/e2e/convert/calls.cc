// SPDX-License-Identifier: GPL-2.0-only
// Virtual calls, calls through pointers (some into libc), sizes of copies, templates.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Shape {
	virtual ~Shape() {}
	virtual int area(int scale) const = 0;
};
struct Square : Shape {
	int side = 3;
	int area(int scale) const override { return side * side * scale; }
};
struct Circle : Shape {
	int radius = 2;
	int area(int scale) const override { return scale > 50 ? 3 * radius * radius : radius; }
};
struct Line : Shape {
	int area(int) const override { return 0; }
};

template <typename T> static T limit(T value, T low, T high)
{
	return value < low ? low : value > high ? high : value;
}

typedef int (*function)(int);
static int twice(int x) { return 2 * x; }
extern "C" int negate(int x) { return -x; }
static volatile function functions[] = { twice, negate, abs, toupper };

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	std::vector<Shape *> shapes;
	char from[512], to[512];
	long sum = 0;

	for (int i = 0; i < 10; i++)
		shapes.push_back(i % 5 == 0 ? static_cast<Shape *>(new Circle) :
				 i % 3 == 0 ? static_cast<Shape *>(new Line) : new Square);
	memset(from, 1, sizeof(from));
	for (int i = 0; i < n; i++) {
		sum += shapes[i % 10]->area(i % 100);
		sum += functions[i % 7 % 4](i % 200);
		memcpy(to, from, i % 9 == 0 ? 300 : i % 17);
		sum = limit<long>(sum + to[0], -1000000, 1000000);
	}
	std::string text = std::to_string(sum);
	std::sort(text.begin(), text.end());
	puts(text.c_str());
	for (Shape *shape : shapes)
		delete shape;
	return 0;
}
