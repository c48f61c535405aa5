// The clone that this command line is part of.
import { fileURLToPath } from 'node:url'

export const CLONE = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
