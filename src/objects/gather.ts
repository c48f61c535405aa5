// Questions to the state that come at about the same time go as one: what each costs however small it is (its
// messages, a wake-up of the server and one of ours, the start of its plan) is shared. One alone goes at once.
//
// A question goes only with what is sent after it came, so its answer is as fresh as it would be alone.
import type { TimerClock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import { isStateAway } from '#state/connect.ts'

export type Gathering<Q, A> = {
  /** Answers each of the questions, in their order. */
  ask(questions: readonly Q[]): Promise<readonly A[]>
  readonly clock: Pick<TimerClock, 'setTimer'>
  /** So many are asked at once. */
  readonly most: number
}

type Waiter<Q, A> = {
  readonly question: Q
  resolve(answer: A): void
  reject(error: unknown): void
}

/** What is under way longer than this, as for pages on a slow disk, holds up nobody else. */
const WAIT_MS_MAX = 5

/**
 * One question's answer. While some are under way others wait for them, at most 5 ms and until `most` are
 * there. Where the state is away all fail alike; with any other error each is asked alone, so that it meets
 * only whose it is: what fails must have changed nothing.
 */
export function gather<Q, A>(gathering: Gathering<Q, A>): (question: Q) => Promise<A> {
  const { ask, clock, most } = gathering
  let waiting: Waiter<Q, A>[] = []
  let running = 0
  let cancel = () => {}

  function send(): void {
    cancel()
    cancel = () => {}
    if (waiting.length === 0) return
    const sent = waiting
    waiting = []
    running++
    void answer(sent)
  }

  async function answer(sent: readonly Waiter<Q, A>[]): Promise<void> {
    const answers = await askAll(ask, sent).catch((error: unknown) => ({ error }))
    running--
    // Before anybody works on an answer: the server works meanwhile.
    send()
    if (!('error' in answers)) tell(sent, answers)
    else if (sent.length === 1 || isStateAway(answers.error))
      for (const { reject } of sent) reject(answers.error)
    else for (const one of sent) askAlone(ask, one)
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (waiting.length >= most) send()
      else if (waiting.length === 1) cancel = running === 0 ? soon(send) : later(clock, send)
    })
}

/** After all that has come by now was read. */
function soon(send: () => void): () => void {
  const due = setImmediate(send)
  return () => clearImmediate(due)
}

const later = (clock: Gathering<never, never>['clock'], send: () => void) =>
  clock.setTimer(WAIT_MS_MAX, send)

async function askAll<Q, A>(
  ask: Gathering<Q, A>['ask'],
  asked: readonly Waiter<Q, A>[],
): Promise<readonly A[]> {
  const answers = await ask(asked.map(({ question }) => question))
  invariant(answers.length === asked.length, 'each question has an answer')
  return answers
}

function askAlone<Q, A>(ask: Gathering<Q, A>['ask'], one: Waiter<Q, A>): void {
  askAll(ask, [one]).then((answers) => tell([one], answers), one.reject)
}

function tell<Q, A>(asked: readonly Waiter<Q, A>[], answers: readonly A[]): void {
  for (const [at, answer] of answers.entries()) asked[at]?.resolve(answer)
}
