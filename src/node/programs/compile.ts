// Loads the code of the programs it is given and ends: what it was compiled to is then in
// NODE_COMPILE_CACHE. Fd 3 must be empty, at which a program gives up before it does anything.
import { ErgonError } from '#base/errors.ts'

/** Packages that programs load when they need them. */
const LATER = ['undici', 'prom-client']

for (const program of process.argv.slice(2))
  try {
    await import(program)
    process.exitCode = 1
  } catch (error) {
    if (!(error instanceof ErgonError) || error.code !== 'config_invalid') throw error
  }
for (const name of LATER) await import(name)
