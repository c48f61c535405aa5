// The commands of the guide for a test chain, from the setting to the credit, as the guide has them.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { present } from '#base/errors.ts'
import { freeBlock } from '../ports.ts'
import { product, sharedErgon } from '../product.ts'
import type { Settings } from '../settings.ts'

const run = promisify(execFile)
const CHAIN_MS_MAX = 30_000
const POLL_MS = 100
const PAID_MS_MAX = 60_000

const folder = mkdtempSync(join(tmpdir(), 'ergon-guide-'))
symlinkSync(new URL('../../src/cli/ergon.mjs', import.meta.url), join(folder, 'ergon'))
let stopChain: () => void = () => undefined
after(() => stopChain())

/** The shell block of the guide that begins with a word. */
function guideBlock(word: string): string {
  const page = readFileSync(new URL('../../docs/guide/money.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```sh\n([^`]*)```/g)].map(([, block = '']) => block)
  return present(
    blocks.find((block) => block.startsWith(word)),
    `the guide has ${word}`,
  )
}

let chainUrl = ''
const shell = async (script: string, env: Readonly<Record<string, string>> = {}) =>
  await run('sh', ['-euc', script], {
    timeout: PAID_MS_MAX,
    env: { ...process.env, CHAIN_URL: chainUrl, ...env, PATH: `${folder}:${process.env['PATH']}` },
  })

const GUIDE_CHAIN: Settings = async () => {
  const port = await freeBlock()
  chainUrl = `http://127.0.0.1:${port}`
  const [chain = '', deploy = '', start] = guideBlock('node_modules/.bin/anvil').split('\n')
  assert.equal(start, 'npm start -- --stablecoins-file stablecoins.json')
  // In a group of its own: the program of the package starts another one.
  const command = chain.replace('8545', String(port)).replace(/ &$/, '')
  const started = spawn('sh', ['-c', `exec ${command}`], { detached: true, stdio: 'ignore' })
  started.unref()
  stopChain = () => void process.kill(-present(started.pid, 'the chain runs'), 'SIGKILL')
  await answers(chainUrl)
  const [made = '', file] = deploy.split(' > ')
  assert.equal(file, 'stablecoins.json')
  return { env: { ERGON_STABLECOINS: (await shell(made)).stdout } }
}

async function answers(url: string): Promise<void> {
  const signal = AbortSignal.timeout(CHAIN_MS_MAX)
  const isThere = () => fetch(url, { method: 'POST', body: '{}' }).then(Boolean, () => false)
  while (!(await isThere())) await pause(POLL_MS, undefined, { signal })
}

product(GUIDE_CHAIN)

test('the guide pays by stablecoin on a test chain, from the setting to the credit', async () => {
  const ergon = sharedErgon()
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  const { stdout, stderr } = await shell(guideBlock('offer='), {
    ERGON_BASE_URL: ergon.baseUrl,
    ERGON_DATA: ergon.dataFolder,
    ERGON_TOKEN: token,
  })
  assert.match(stderr, /20 tUSD are paid \(test money: no funds move\): pay_/)
  // The requests before it were charged.
  assert.match(stdout, /19\.99\d+|20 tUSD/)
})
