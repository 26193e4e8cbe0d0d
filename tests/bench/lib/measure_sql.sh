#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# measure_sql.sh N: other work for sqlite3 than sql.sh's, over N rows.
cat <<S
create table item(id integer primary key, name text, price integer, kind text);
create table sale(item integer, day integer, amount integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < $1)
  insert into item select i, 'item ' || (i * 31 % 1009), i * 13 % 500,
    case i % 4 when 0 then 'tool' when 1 then 'food' when 2 then 'toy' else 'book' end from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3 * $1)
  insert into sale select i * 7 % $1 + 1, i % 365, i % 11 from n;
create index sale_item on sale(item, day);
create view total as select item, sum(amount) amount from sale group by item;
select kind, count(*), sum(price * amount) from item join total on id = item
  group by kind having count(*) > 2 order by 3 desc;
select name, price from item where price between 100 and 120 and name not like '%7' order by name, price limit 20;
select count(*) from item where id in (select item from sale where day < 30 and amount > 5);
select day, rank() over (order by sum(amount) desc) from sale group by day limit 5;
select upper(substr(name, -3)) tail, max(price) from item group by tail order by tail desc limit 9;
begin;
update item set price = price + 1 where kind = 'food';
delete from sale where day > 300;
rollback;
select sum(price) from item;
S
