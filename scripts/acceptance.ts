// npm run acceptance: the tests of acceptance/ against any running instance, or against a product that it starts.
//
//     --base-url URL --token TOKEN   the instance, and a token of scope deploy of an account that can pay
//     --s3-key ACCESS:SECRET         another key for storage (default: the token is both)
//     --depleted-token TOKEN         of an account that has spent its balance (else such tests are skipped)
//     --unfunded-token TOKEN         of an account whose free joules are used up (else such tests are skipped)
//     --only SUITE                   a file of acceptance/: ai-sdk, databases, langchain, one-number, openai, s3 or
//                                    tools
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { parseArgs } from 'node:util'
import { openInstance, type Instance } from '../acceptance/world.ts'

const string = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    'base-url': string,
    token: string,
    's3-key': string,
    'depleted-token': string,
    'unfunded-token': string,
    only: { type: 'string', default: 'all' },
  },
})

// The product that this starts offers everything: there a skipped test is a fault.
if (values['base-url'] === undefined) await openInstance(await start(), 'everything')
else await openInstance(given(values['base-url']))
await import(suite(values.only))

/** The file of a suite: `all` imports each of the others. */
function suite(name: string): string {
  const path = join(import.meta.dirname, '../acceptance', `${name}.ts`)
  if (!/^[a-z0-9-]+$/.test(name) || !existsSync(path))
    throw new TypeError(`There is no suite ${name}`)
  return path
}

function given(baseUrl: string): Instance {
  const { token } = values
  if (token === undefined) throw new TypeError('--base-url needs --token')
  return {
    baseUrl: baseUrl.replace(/\/+(v1\/*)?$/, ''),
    token,
    s3Key: values['s3-key'],
    depletedToken: values['depleted-token'],
    unfundedToken: values['unfunded-token'],
  }
}

async function start(): Promise<Instance> {
  const { acceptanceInstance } = await import('../test/acceptance-instance.ts')
  const { startErgon } = await import('../test/start-ergon.ts')
  const ergon = await startErgon({ models: 'default', env: { ERGON_FREE_TIER_J: '0' } })
  after(() => ergon.stop())
  return await acceptanceInstance(ergon)
}
