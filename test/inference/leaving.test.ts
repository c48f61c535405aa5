// Callers of a real cell that leave while it computes: a step cannot be stopped, so the caller that began it pays for
// it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import { createChatCreate } from '#inference/operations/chat-create.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { startCell, type TestCell } from './model-cell.ts'

describe('a cell whose callers leave', () => {
  let folder: string
  let cell: TestCell
  let provider: Provider
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-leaving-'))
    const file = join(folder, 'random.gguf')
    // A step of 64 prompt tokens takes about 50 ms of CPU.
    writeRandomLlama(file, { width: 512, layers: 6 })
    cell = await startCell({ id: 'random', file, contextSize: 1024, sequences: 3 })
    provider = createOpenaiProvider(
      { name: 'cell-small', at: { kind: 'cell', socketPath: cell.socket } },
      { clock: systemClock, log: quietLog },
    )
  })
  after(async () => {
    await provider.close()
    await cell.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const offer = offerOf({ isCell: true, upstreamId: 'random' })
  const messages = [{ role: 'user' as const, content: 'x'.repeat(500) }]
  const processNs = async () =>
    BigInt((JSON.parse((await cell.get('/healthz')).text) as { cpu_ns: string }).cpu_ns)

  /** Asks, leaves after a while, and says what was claimed when the request was over. */
  const leaveAfter = async (ms: number, more: { stream?: boolean; n?: number } = {}) => {
    const handle = createChatCreate(depsOf([offer], [provider]))
    const call = callOf(parseChatRequest({ model: 'small', messages, ...more }))
    const answer = assert.rejects(Promise.resolve(handle(call)), { code: 'client_closed' })
    await pause(ms)
    call.leave()
    await answer
    const last = call.spend.claims.at(-1)
    return last?.kind === 'cpu' ? last.cpuNs : 0n
  }

  const rounds: Record<string, () => Promise<readonly bigint[]>> = {
    'one after the other, before the first figure': async () => {
      const claimed: bigint[] = []
      for (const ms of [1, 3, 10, 20, 30, 40, 60])
        claimed.push(await leaveAfter(ms, { stream: ms > 20 }))
      return claimed
    },
    'in steps that they share, and of several choices': () =>
      Promise.all([5, 20, 40, 60, 90, 150].map((ms) => leaveAfter(ms, { n: 1 + (ms % 3) }))),
  }
  for (const [how, round] of Object.entries(rounds))
    it(`has told all that it spent, ${how}`, async () => {
      const begun = await processNs()
      const claimed = (await round()).reduce((sum, ns) => sum + ns, 0n)
      const spent = (await processNs()) - begun
      assert.ok(claimed <= spent, `${claimed} of ${spent}`)
      assert.ok(Number(claimed) >= 0.85 * Number(spent), `${claimed} of ${spent}`)
    })
})
