-- Globals of a function library.
std = 'lua51'
read_globals = { 'redis', 'cjson', 'cmsgpack', 'struct', 'bit' }
-- Lines are as long as they need to be, and parts that are joined may use the same names within.
max_line_length = false
ignore = {
  '42.',
  '43.',
  -- Every function is given it.
  '212/KEYS',
}
