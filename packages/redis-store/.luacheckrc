-- Globals of a Redis script.
std = 'lua51'
read_globals = { 'redis', 'cjson', 'cmsgpack', 'struct', 'bit', 'KEYS', 'ARGV' }
-- Lines are as long as they need to be, and parts that are joined may use the same names within.
max_line_length = false
ignore = {
  '42.',
  '43.',
  -- Every script is given it.
  '211/database',
  -- One line makes several keys.
  '211/%w+Key',
}
