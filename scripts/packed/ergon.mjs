#!/usr/bin/env node
// The command line.
import { launch } from './launch.mjs'

launch('src/cli/ergon.mjs')
