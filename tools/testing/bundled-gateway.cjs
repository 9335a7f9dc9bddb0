// Starts the bundle of the gateway with what Node made of its files before: reading them anew is a third of a start.
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { Module } = require('node:module')
const { dirname, join } = require('node:path')
const vm = require('node:vm')

const folder = join(__dirname, '../../apps/gateway/out-tsc/bundle')
/** Set while the compiled code is made, in runs of the gateway one after the other. */
const isMade = process.env.MAKE_COMPILED_CODE === 'yes'
/** V8 compares it to the flags at the time when the code is loaded. */
const flagsOffset = 12
const made = []

function compiledFrom(content, filename) {
  const file = `${filename}.code`
  const cachedData = existsSync(file) ? readFileSync(file) : undefined
  const script = new vm.Script(Module.wrap(content), {
    ...{ filename, cachedData },
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (isMade && !cachedData) {
    const flags = new vm.Script('').createCachedData().readUInt32LE(flagsOffset)
    made.push({ file, script, flags })
  }
  return script.runInThisContext()
}

const compile = Module.prototype._compile
Module.prototype._compile = function (content, filename, ...others) {
  if (dirname(filename) !== folder) return compile.call(this, content, filename, ...others)
  const run = compiledFrom(content, filename)
  return run.call(
    this.exports,
    this.exports,
    Module.createRequire(filename),
    this,
    filename,
    folder,
  )
}

if (isMade) {
  process.on('exit', () => {
    for (const { file, script, flags } of made) {
      const code = script.createCachedData()
      code.writeUInt32LE(flags, flagsOffset)
      writeFileSync(`${file}.new`, code)
      renameSync(`${file}.new`, file)
    }
  })
}

require(join(folder, 'main.cjs'))
