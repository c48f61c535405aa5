// Joins concurrent queries of the same kind into one. Each query has fixed costs (messages, a wake-up of the server
// and one of ours, the start of a plan), which a joint query pays once. A single query is sent at once.
//
// A query never joins one that was sent before, so its answer is as fresh as it would be alone.
import type { TimerClock } from '#base/clock.ts'
import { invariant, InvariantError } from '#base/errors.ts'
import { isStateAway } from '#state/connect.ts'

export type Gathering<Q, A> = {
  /** Sends a joint query; the answers are in the order of the inputs. */
  ask(questions: readonly Q[]): Promise<readonly A[]>
  readonly clock: Pick<TimerClock, 'setTimer'>
  /** The most lookups of one joint query. */
  readonly most: number
  /** True for an error after which the query has changed nothing: then each of them may be asked again. */
  readonly isUndone: (error: unknown) => boolean
}

type Waiter<Q, A> = {
  readonly question: Q
  resolve(answer: A): void
  reject(error: unknown): void
}

/** A slow query, such as for pages on a slow disk, delays others at most this long. */
const WAIT_MS_MAX = 5

/**
 * Joins a query. While another runs, later ones wait for it, at most 5 ms and until `most` are waiting. After an error
 * that has changed nothing each is sent alone, so that only the faulty one fails. After any other error all of them fail.
 */
export function gather<Q, A>(gathering: Gathering<Q, A>): (question: Q) => Promise<A> {
  const { ask, clock, most, isUndone } = gathering
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
    // Before the answers are delivered, so that the server works meanwhile.
    send()
    if (!('error' in answers)) tell(sent, answers)
    else if (sent.length === 1 || !isUndone(answers.error))
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

/** `isUndone` of queries that only read. A state that is away, and an answer that is none, are so for each of them. */
export const isUndoneRead = (error: unknown): boolean =>
  !isStateAway(error) && !(error instanceof InvariantError)

/** After the events of this turn of the loop. */
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
