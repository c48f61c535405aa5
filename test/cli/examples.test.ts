// The examples run as they stand, against a running product with a scripted model.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { ANSWER, addUpstream } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const run = promisify(execFile)
const RUN_MAX_MS = 60_000
let ergon: Ergon
let upstream: ScriptedUpstream
before(async () => {
  ergon = sharedErgon()
  upstream = await addUpstream(ergon, 'scripted')
})
after(() => upstream.close())

const example = async (...command: [string, ...string[]]) => {
  const [file, ...args] = command
  const { stdout } = await run(file, args, {
    timeout: RUN_MAX_MS,
    env: { ...process.env, ERGON_BASE_URL: ergon.baseUrl, ERGON_TOKEN: ergon.token },
  })
  return stdout
}

test('examples/chat.ts prints an answer and a stream, each with its joules', async () => {
  const printed = await example(process.execPath, 'examples/chat.ts')
  assert.equal(printed.split(ANSWER).length, 3, printed)
  assert.equal([...printed.matchAll(/^\d+(\.\d+)? J\b/gm)].length, 2, printed)
  assert.match(printed, /^receipt rcpt_/m)
})

test('examples/chat.sh shows the same figure in the trailer, the last chunk and the ledger', async () => {
  const printed = await example('examples/chat.sh')
  const [trailer] = [...printed.matchAll(/^X-Energy-Joules: ([\d.]+)\r?$/gm)].slice(-1)
  const figures = [...printed.matchAll(/"energy_j":([\d.]+)/g)].map(([, figure]) => figure)
  assert.deepEqual(figures.slice(1), [trailer?.[1], trailer?.[1]], printed)
  // The methods of the answer, of the head of the stream, and of its end.
  const methods = [...printed.matchAll(/^X-Energy-Method: (.+?)\r?$/gm)].map(([, method]) => method)
  assert.equal(methods.length, 3, printed)
})

test('examples/receipt.sh checks a receipt with openssl', async () => {
  await fetch(`${ergon.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${ergon.token}` } })
  assert.match(await example('examples/receipt.sh'), /^Signature Verified Successfully$/m)
})
