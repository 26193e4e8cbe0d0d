-- SPDX-License-Identifier: GPL-2.0-only
-- Other work than bench.lua: string building, closures, table removal, float arithmetic.
local words, seed = {}, 42
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n end
for i = 1, 20000 do words[i] = string.char(97 + random(26), 97 + random(26), 97 + random(26)) end
local count = {}
for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
local keys = {}
for word in pairs(count) do keys[#keys + 1] = word end
table.sort(keys, function(a, b)
	if count[a] == count[b] then return a < b end
	return count[a] > count[b]
end)
local queens, solutions = {}, 0
local function place(row, n)
	if row > n then solutions = solutions + 1 return end
	for column = 1, n do
		local free = true
		for other = 1, row - 1 do
			local distance = queens[other] - column
			if distance == 0 or distance == row - other or distance == other - row then
				free = false
				break
			end
		end
		if free then queens[row] = column place(row + 1, n) end
	end
end
place(1, 8)
local x = 0.5
for _ = 1, 300000 do x = 3.7 * x * (1 - x) end
local matrix = {}
for i = 1, 60 do matrix[i] = {} for j = 1, 60 do matrix[i][j] = i * j % 7 end end
local trace = 0
for i = 1, 60 do
	for j = 1, 60 do
		local sum = 0
		for k = 1, 60 do sum = sum + matrix[i][k] * matrix[k][j] end
		if i == j then trace = trace + sum end
	end
end
while #keys > 1 do table.remove(keys, #keys // 2) end
print(keys[1], solutions, x, trace, (table.concat(words):gsub("(%a)%1", "%1")):len())
