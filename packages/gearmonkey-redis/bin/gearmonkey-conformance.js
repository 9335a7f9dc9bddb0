#!/usr/bin/env node
import { main } from '../dist/conformance/main.js'

process.exitCode = await main(process.argv.slice(2), (line) => console.log(line))
