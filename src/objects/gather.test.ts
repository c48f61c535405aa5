import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { fault } from '#contract/errors.ts'
import { gather, isUndoneRead } from './gather.ts'

const MOST = 4
/** One that is never answered would hang. */
const WITHIN = { timeout: 60_000 }

/** A state that answers on command, and a clock that moves on command. */
function openState() {
  const asked: { questions: readonly string[]; end(error?: unknown): void }[] = []
  const timers = new Set<() => void>()
  const find = gather<string, string>({
    most: MOST,
    isUndone: isUndoneRead,
    clock: {
      setTimer(_, fire) {
        timers.add(fire)
        return () => timers.delete(fire)
      },
    },
    ask: (questions) =>
      new Promise((resolve, reject) =>
        asked.push({
          questions,
          end: (error) =>
            error === undefined ? resolve(questions.map((one) => `of ${one}`)) : reject(error),
        }),
      ),
  })
  return { asked, find, timers, questions: () => asked.map(({ questions }) => questions) }
}

const settled = async (answers: readonly Promise<string>[]) =>
  (await Promise.allSettled(answers)).map((end) =>
    end.status === 'fulfilled' ? end.value : String(end.reason.message),
  )

test('a question alone goes at once, what comes meanwhile goes together', WITHIN, async () => {
  const state = openState()
  const first = state.find('a')
  await turn()
  assert.deepEqual(state.questions(), [['a']])
  const others = [state.find('b'), state.find('c')]
  await turn()
  assert.deepEqual(state.questions(), [['a']], 'they wait')
  state.asked[0]?.end()
  assert.equal(await first, 'of a')
  assert.deepEqual(state.questions(), [['a'], ['b', 'c']], 'sent before the answer is worked on')
  state.asked[1]?.end()
  assert.deepEqual(await settled(others), ['of b', 'of c'])
  assert.equal(state.timers.size, 0)
})

test('the same question that comes after the first was sent is asked again', WITHIN, async () => {
  const state = openState()
  const first = state.find('a')
  await turn()
  const second = state.find('a')
  state.asked[0]?.end()
  await first
  assert.deepEqual(state.questions(), [['a'], ['a']])
  state.asked[1]?.end()
  await second
})

test('nobody waits behind a full question, nor long behind a slow one', WITHIN, async () => {
  const state = openState()
  const answers = [state.find('slow')]
  await turn()
  answers.push(...['a', 'b', 'c', 'd', 'e'].map(state.find))
  assert.deepEqual(state.questions(), [['slow'], ['a', 'b', 'c', 'd']])
  for (const fire of state.timers) fire()
  assert.deepEqual(state.questions().at(-1), ['e'])
  for (const { end } of state.asked.toReversed()) end()
  assert.deepEqual(
    await settled(answers),
    ['slow', 'a', 'b', 'c', 'd', 'e'].map((one) => `of ${one}`),
  )
})

test('where the state is away all fail, and are not asked again', WITHIN, async () => {
  const state = openState()
  const answers = ['a', 'b'].map(state.find)
  await turn()
  state.asked[0]?.end(fault('state_unavailable', 'away'))
  assert.deepEqual(await settled(answers), ['away', 'away'])
  assert.equal(state.asked.length, 1)
})

test('questions whose answer is not one all fail, and are not asked again', WITHIN, async () => {
  let asked = 0
  const find = gather<string, string>({
    most: MOST,
    isUndone: isUndoneRead,
    clock: { setTimer: () => () => undefined },
    async ask() {
      asked++
      return ['only one']
    },
  })
  assert.deepEqual(await settled(['a', 'b'].map(find)), [
    'each question has an answer',
    'each question has an answer',
  ])
  assert.equal(asked, 1)
})

test('a query that may have changed something is never asked again', WITHIN, async () => {
  let asked = 0
  const write = gather<string, string>({
    most: MOST,
    isUndone: () => false,
    clock: { setTimer: () => () => undefined },
    async ask() {
      asked++
      throw new RangeError('The answer is too large')
    },
  })
  assert.deepEqual(await settled(['a', 'b'].map(write)), [
    'The answer is too large',
    'The answer is too large',
  ])
  assert.equal(asked, 1)
})

test(
  'each question has its own answer or its own error, whatever it goes with',
  WITHIN,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ name: fc.nat(9), pauses: fc.nat(3), fails: fc.boolean() }), {
          maxLength: 30,
        }),
        async (plan) => {
          const fails = new Set(plan.filter((one) => one.fails).map(({ name }) => name))
          const find = gather<number, string>({
            most: MOST,
            isUndone: isUndoneRead,
            clock: { setTimer: () => () => undefined },
            async ask(names) {
              await turn()
              const bad = names.find((name) => fails.has(name))
              if (bad !== undefined) throw new Error(`bad ${bad}`)
              return names.map((name) => `good ${name}`)
            },
          })
          const answers: Promise<string>[] = []
          for (const { name, pauses } of plan) {
            for (let pause = 0; pause < pauses; pause++) await turn()
            const answer = find(name)
            answer.catch(() => undefined)
            answers.push(answer)
          }
          const wanted = plan.map(({ name }) => `${fails.has(name) ? 'bad' : 'good'} ${name}`)
          assert.deepEqual(await settled(answers), wanted)
        },
      ),
    )
  },
)
