// Loads the code of every program and ends: what it was compiled to is then in NODE_COMPILE_CACHE. Fd 3
// must be empty, at which a program gives up before it does anything.
import { ErgonError } from '#base/errors.ts'

const programs = [
  () => import('./gateway.ts'),
  () => import('./jobs.ts'),
  () => import('./signer.ts'),
  () => import('./model.ts'),
  () => import('./storage.ts'),
]
for (const load of programs)
  try {
    await load()
    process.exitCode = 1
  } catch (error) {
    if (!(error instanceof ErgonError) || error.code !== 'config_invalid') throw error
  }
