-- SPDX-License-Identifier: GPL-2.0-only
-- A deterministic mix of what interpreters do; the size is the argument.
local size = tonumber(arg[1]) or 22

local function ackermann(m, n)
	if m == 0 then return n + 1 end
	if n == 0 then return ackermann(m - 1, 1) end
	return ackermann(m - 1, ackermann(m, n - 1))
end

local function fibonacci(n) return n < 2 and n or fibonacci(n - 1) + fibonacci(n - 2) end

local numbers = {}
for i = 1, size * 400 do numbers[i] = i * 6101 % 9973 end
table.sort(numbers)
local words = {}
for i = 1, size * 90 do words[#words + 1] = ("%x-%s"):format(i * 31, ("ab"):rep(i % 9)) end
local text, seen = table.concat(words, " "), 0
for word in text:gmatch("%x+") do seen = seen + #word end
local object = setmetatable({}, { __index = function(_, key) return key + 1 end })
local sum = 0
for i = 1, size * 150 do sum = sum + object[i] end
local squares = coroutine.wrap(function() for i = 1, size * 40 do coroutine.yield(i * i) end end)
for _ = 1, size * 40 do sum = sum + squares() end
print(fibonacci(size), ackermann(2, size), numbers[size], seen, sum, #text:gsub("a", "bc"))
