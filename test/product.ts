// The pool of started products. A test file says which settings it needs; files of equal settings that run in one
// process share one started product, in any order. scripts/test.ts puts them into one process.
import { isDeepStrictEqual } from 'node:util'
import { after, afterEach, before, type TestContext } from 'node:test'
import { LOG_HEAD } from '../scripts/test-reporter.ts'
import { chosenModels } from '#inference/models/default-models.ts'
import type { Settings } from './settings.ts'
import { startErgon, type Ergon, type Life } from './start-ergon.ts'

const LOG_LINES_SHOWN = 20

let isKept = false
type Started = {
  readonly settings: Settings
  readonly ergon: Ergon
  /** The models of its start, which stay. */
  readonly models: readonly string[]
}
let started: Started | undefined

/**
 * Asks for a product with these settings, for all tests of the file or suite that calls. `life` are further settings:
 * a product that runs without them is restarted on its data folder, which costs half a start.
 */
export function product(settings: Settings, life: Life = {}): void {
  before(() => take(settings, life))
  after(async () => {
    if (!isKept) await stopProduct()
  })
  afterEach((context) => {
    // The types do not have `passed`, nor that the context is a test's.
    const test = context as TestContext & { readonly passed: boolean }
    if (test.passed) return
    const lines = (started?.ergon.stderr() ?? 'it did not start').trim().split('\n')
    test.diagnostic(LOG_HEAD + lines.slice(-LOG_LINES_SHOWN).join('\n'))
  })
}

/** The running product of this file, for hooks and tests. */
export function sharedErgon(): Ergon {
  if (started === undefined) throw new TypeError('no product yet: ask in a hook or a test')
  return started.ergon
}

/** From now on products stay until the result is disposed of, so that later files share them. */
export function keepProducts(): AsyncDisposable {
  isKept = true
  return { [Symbol.asyncDispose]: stopProduct }
}

async function take(settings: Settings, life: Life): Promise<void> {
  // A test may have ended it.
  if (started?.settings !== settings || !started.ergon.isRunning) {
    await stopProduct()
    const options = typeof settings === 'function' ? await settings() : settings
    const ergon = await startErgon({ ...options, life })
    // Those of its settings may still be on their way into the state.
    const own = chosenModels(options.models ?? 'none').map(({ id }) => id)
    started = { settings, ergon, models: [...own, ...(await modelsOf(ergon))] }
  } else {
    if (!isDeepStrictEqual(started.ergon.life, life)) await started.ergon.restart(life)
    await removeModels(started)
  }
}

/** Removes the models that files before have left: `auto` could choose them. */
async function removeModels({ ergon, models }: Started): Promise<void> {
  for (const id of await modelsOf(ergon))
    if (!models.includes(id)) await ergon.control('model.remove', { model: id })
}

const modelsOf = async (ergon: Ergon): Promise<string[]> =>
  (await ergon.sql<{ id: string }>('select id from models')).map(({ id }) => id)

async function stopProduct(): Promise<void> {
  const last = started
  started = undefined
  await last?.ergon.stop()
}
