// Turns of works that wait for each other: the first of those that wait begins first.

/** Gives so many turns at once. A turn ends with its disposal; a wait for a turn rejects with the reason of its signal. */
export function createVolumeTurns(most: number): (signal: AbortSignal) => Promise<Disposable> {
  const waiting: (() => void)[] = []
  let running = 0
  const end = () => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
  const begun = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.push(begin)
    })
  return async (signal) => {
    signal.throwIfAborted()
    if (running < most) running++
    else await begun(signal)
    return { [Symbol.dispose]: end }
  }
}

type Turns = { readonly take: ReturnType<typeof createVolumeTurns>; users: number }

/** One turn at once for each name. */
export function createNamedTurns(): (name: string, signal: AbortSignal) => Promise<Disposable> {
  const all = new Map<string, Turns>()
  return async (name, signal) => {
    const own = all.get(name) ?? { take: createVolumeTurns(1), users: 0 }
    all.set(name, own)
    own.users++
    using taking = new DisposableStack()
    taking.defer(() => {
      if (--own.users === 0) all.delete(name)
    })
    taking.use(await own.take(signal))
    return taking.move()
  }
}
