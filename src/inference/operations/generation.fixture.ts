// Generations in tests: a scripted cell that serves them, what chats ask, and what is read of replies.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import type { KnownReply, Reply, StreamedReply } from '#http/reply.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'
import { quietLog } from '#inference/testing/offers.ts'
import {
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import type { StrictSpend } from '#inference/testing/strict-spend.ts'

type ServedCell = { readonly upstream: ScriptedUpstream; readonly provider: Provider }

/** Starts a cell, and the provider that asks it, for the tests of a file, and closes both after them. */
export function withCell(opened: (cell: ServedCell) => void): void {
  const opening = new AsyncDisposableStack()
  before(async () => {
    const upstream = await startScriptedUpstream('socket', streaming())
    opening.defer(() => upstream.close())
    const provider = createOpenaiProvider(
      { name: 'cell-small', at: { kind: 'cell', socketPath: upstream.socketPath } },
      { clock: systemClock, log: quietLog, sleep: async () => {} },
    )
    opening.defer(() => provider.close())
    opened({ upstream, provider })
  })
  after(() => opening.disposeAsync())
}

/** The request of a chat, with more fields or others. */
export const ask = (more: Record<string, unknown> = {}) =>
  parseChatRequest({ model: 'small', messages: [{ role: 'user', content: 'Hi' }], ...more })

/** The reply, which must be a whole one. */
export function known(reply: Reply): KnownReply {
  assert.equal(reply.kind, 'known')
  return reply as KnownReply
}

/** The reply, which must be a stream. */
export function streamed(reply: Reply): StreamedReply {
  assert.equal(reply.kind, 'streamed')
  return reply as StreamedReply
}

/** The body of a whole reply, with the charge settled. */
export const textOf = (reply: KnownReply, spend: StrictSpend): string =>
  String(reply.body(spend.settle(200)))

/** All that a stream says to its end, with the charge settled. */
export async function streamText(reply: StreamedReply, spend: StrictSpend): Promise<string> {
  let text = ''
  for await (const chunk of reply.chunks) text += String(chunk)
  return text + reply.last(spend.settle(200))
}

/** The chunks of a stream's text, all of which must be data. */
export const chunksOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n\n')
    .filter((line) => line !== '' && line !== 'data: [DONE]')
    .map((line) => {
      assert.ok(line.startsWith('data: '), line)
      return JSON.parse(line.slice(6)) as Record<string, unknown>
    })
