-- Each call of a function begins so: nothing of the call before is left.
function Call.begin(arguments)
  Keys.begin(arguments[1], arguments[2])
  Order.begin()
  Turns.begin()
end
