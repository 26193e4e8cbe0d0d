// SPDX-License-Identifier: GPL-2.0-only
// Exceptions, virtual calls, switches and recursion: every way of control that C++ has.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual long area(long n) const = 0;
};

struct square : shape {
	long area(long n) const override { return n * n; }
};

struct line : shape {
	long area(long n) const override
	{
		if (n % 7 == 3)
			throw std::domain_error("a line of " + std::to_string(n));
		return n;
	}
};

struct counted {
	static long living;
	counted() { living++; }
	~counted() { living--; }
};

long counted::living;

static long fold(const std::vector<std::unique_ptr<shape>> &shapes, long n, int depth)
{
	counted one;

	switch (n % 6) {
	case 0:
		return depth ? fold(shapes, n / 2 + 1, depth - 1) : 1;
	case 1:
		throw n;
	case 2:
		return shapes[0]->area(n);
	case 3:
		return shapes[1]->area(n);
	case 4:
		return 4;
	default:
		try {
			return fold(shapes, n + 3, depth) + 1;
		} catch (long caught) {
			if (caught % 5 == 0)
				throw;
			return caught;
		}
	}
}

int main(int argc, char **argv)
{
	long sum = 0, caught = 0, n = argc > 1 ? std::atol(argv[1]) : 100;
	std::vector<std::unique_ptr<shape>> shapes;

	shapes.emplace_back(new square);
	shapes.emplace_back(new line);
	for (long i = 0; i < n; i++) {
		try {
			sum += fold(shapes, i, 3);
		} catch (const std::exception &error) {
			caught += std::string(error.what()).size();
		} catch (long number) {
			caught += number;
		}
	}
	std::printf("%ld %ld %ld\n", sum, caught, counted::living);
}
