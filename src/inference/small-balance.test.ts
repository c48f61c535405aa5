// Answers that cost more than their account has, under the real charging: whatever the balance, the caller gets what
// it pays for, or pays nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { nj, priceOf } from '#base/units.ts'
import {
  NJ_PER_CPU_S,
  openTestCharging,
  PUSD_PER_J,
  type TestCharging,
} from '#charging/charging.fixture.ts'
import type { Payer } from '#charging/spend.ts'
import type { OpenSpend } from '#charging/open-spend.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import { assertStands, type Reply } from '#http/reply.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
import { createChatCreate } from './operations/chat-create.ts'
import { createOpenaiProvider } from './providers/openai/openai-provider.ts'
import type { Provider } from './providers/provider.ts'
import { callOf, depsOf, offerOf, quietLog } from './testing/offers.ts'
import {
  cellChunk,
  DONE,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts'

const J = 1_000_000_000n
// The steps of a cell for an answer of four tokens: the prompt takes 0.6 J in two steps, each token 0.1 J.
const STEPS: readonly (readonly [text: string | undefined, milliJoules: number])[] = [
  [undefined, 300],
  [undefined, 600],
  ['a', 700],
  ['b', 800],
  ['c', 900],
  ['d', 1000],
]
const COST_NJ = J
// The gateway's own energy for writing the reply.
const OWN_NJ = 600_000n

let cell: ScriptedUpstream
let provider: Provider
before(async () => {
  cell = await startScriptedUpstream('socket', () => undefined)
  provider = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath: cell.socketPath } },
    { clock: systemClock, log: quietLog },
  )
})
after(() => Promise.all([provider.close(), cell.close()]))

const cpuNsOf = (milliJoules: number): number =>
  Number((BigInt(milliJoules) * 1_000_000n * J) / NJ_PER_CPU_S)

/** Says the next step when the ledger has answered for the last one. */
const inSteps =
  (bench: TestCharging, work: OpenSpend): Script =>
  async (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const [at, [text, milliJoules]] of STEPS.entries()) {
      const figures = [cpuNsOf(milliJoules), 9, Math.max(0, at - 1)] as const
      const [cpuNs, prompt, completion] = figures
      const comment = {
        cpu_ns: String(cpuNs),
        prompt_tokens: prompt,
        completion_tokens: completion,
      }
      const isLast = at === STEPS.length - 1
      const chunk =
        text === undefined
          ? `: ${JSON.stringify(comment)}\n\n`
          : cellChunk({ content: text }, figures, isLast ? 'stop' : null)
      response.write(chunk)
      const claimed = () => work.measured() >= BigInt(milliJoules) * 999_000n
      while (!claimed() && !response.destroyed) await new Promise(setImmediate)
      if (response.destroyed) return
      await bench.session.tickNow(AbortSignal.timeout(60_000))
      await bench.session.tickNow(AbortSignal.timeout(60_000))
    }
    response.end(DONE)
  }

type Outcome = {
  readonly text: string | undefined
  readonly finish?: string
  readonly charge: Charge
}

/** As the pipeline does it: admits, handles, replies and settles. */
async function conduct(
  work: OpenSpend,
  payer: Payer,
  handle: () => Reply | Promise<Reply>,
): Promise<Outcome> {
  try {
    await work.admit(payer, 'chat.create', nj(J))
    const reply = await handle()
    if (reply.kind === 'streamed') return await readStream(reply, work)
    assertStands(reply, work.cut)
    const charge = work.settle(reply.status)
    const body = JSON.parse(String(reply.body(charge))) as {
      choices: { message: { content: string }; finish_reason: string }[]
    }
    const [choice] = body.choices
    return { text: choice?.message.content, finish: choice?.finish_reason ?? '', charge }
  } catch (error) {
    return { text: undefined, charge: work.settle((error as { status: number }).status) }
  }
}

async function readStream(reply: Extract<Reply, { kind: 'streamed' }>, work: OpenSpend) {
  let text = ''
  try {
    for await (const chunk of reply.chunks)
      text += /"content":"(\w)"/.exec(String(chunk))?.[1] ?? ''
    return { text, charge: work.settle(200) }
  } catch (error) {
    return { text, charge: work.settle((error as { status: number }).status) }
  }
}

// Nothing, next to nothing, and about what each step takes.
const BALANCES = [
  1n,
  20n,
  150n,
  ...STEPS.map(([, milliJoules]) => BigInt(milliJoules)),
  1100n,
].flatMap((milliJoules) => [-1n, 0n, 1n].map((more) => milliJoules * 1_000_000n + more))
for (const stream of [false, true])
  for (const isFunded of stream ? [true] : [true, false])
    test(`whatever ${isFunded ? 'a balance' : 'the free tier'} has left, what is paid is delivered, ${stream ? '' : 'not '}streamed`, async () => {
      let cutShort = 0
      for (const balanceNj of BALANCES) {
        await using bench = await openTestCharging(isFunded ? 10n * J : balanceNj)
        const balancePusd = priceOf(nj(balanceNj), PUSD_PER_J)
        const payer = bench.payer('acct_1', isFunded ? balancePusd : undefined)
        const work = bench.charging.open()
        let said: unknown
        cell.script = (...asked) => (said = inSteps(bench, work)(...asked)) as Promise<void>
        const body = { model: 'small', messages: [{ role: 'user', content: 'Hi' }], stream }
        const call = { ...callOf(parseChatRequest({ ...body, max_tokens: 50 })), spend: work }
        const handle = createChatCreate(depsOf([offerOf({ isCell: true })], [provider]))
        const { text, finish, charge } = await conduct(work, payer, () =>
          handle({ ...call, signal: work.cut }),
        )
        await said
        const paidNj = BigInt(charge.energy_nj)
        const told = `${balanceNj} nJ: ${paidNj} nJ for ${text}`
        if (text === undefined) assert.ok(paidNj <= OWN_NJ, told)
        else {
          assert.ok(paidNj > OWN_NJ && text !== '' && 'abcd'.startsWith(text), told)
          assert.ok(paidNj <= COST_NJ + OWN_NJ, told)
          if (isFunded) assert.ok(BigInt(charge.charge_pusd) <= balancePusd, told)
          else assert.ok(paidNj <= balanceNj, told)
          // The whole balance, less the rounding of its price.
          if (text !== 'abcd') assert.ok(paidNj > balanceNj - 1_000_000n, told)
          if (!stream) assert.equal(finish, text === 'abcd' ? 'stop' : 'length')
          if (text !== 'abcd') cutShort++
        }
        await bench.session.tickNow(AbortSignal.timeout(60_000))
        assert.deepEqual(brokenInvariants(bench.books), [], told)
      }
      assert.ok(cutShort > 3, `${cutShort} of ${BALANCES.length} were cut short`)
    })
