#!/usr/bin/env node
// The node: what `npm start` is in a checkout. Its data folder is that of the folder where it is called.
import { launch } from './launch.mjs'

launch('src/main.js')
