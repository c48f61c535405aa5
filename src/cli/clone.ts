// The clone that this command line is part of.
import { resolve } from 'node:path'

export const CLONE = resolve(import.meta.dirname, '../..')
