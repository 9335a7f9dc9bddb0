#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/main.js', import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else {
  process.stderr.write('Crossgear is not built yet: run npm run build, or npm start, first.\n')
  process.exit(1)
}
