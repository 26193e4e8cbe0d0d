#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# sql.sh N: a deterministic script for sqlite3: inserts, an index, joins and aggregates over N rows.
cat <<S
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < $1)
  insert into t select i, printf('%d:%s', i * 7919 % 10007, hex(i)), i * 0.5 from n;
create index ib on t(b);
select count(*), sum(c), max(b) from t where b like '%1A%';
select substr(b, 1, 3) k, count(*), avg(c) from t group by k order by k limit 5;
select count(*) from t x join t y on x.b = y.b where x.a < y.a + 3;
update t set c = c + length(b) where a % 3 = 0;
delete from t where a % 5 = 0;
select sum(c) from t;
S
