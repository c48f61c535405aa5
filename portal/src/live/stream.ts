// The live stream of a browser: one tab holds it, by a lock, and tells the others. It is closed while no page that
// shows live figures is visible.
import { pause } from '#console/client/pause.ts'
import { tellSignedOut } from '#console/client/signed-out.ts'
import type { LiveMessage } from '#contract/live/live.ts'
import { after, NOTHING, type LiveState } from './state.ts'

const ADDRESS = '/v1/live'
const LOCK = 'ergon-live'
const CHANNEL = 'ergon-live'
/** Twice the time between two messages of an account at rest. */
const SILENCE_MS = 12_500
const RETRY_MS = 2_000
const RETRY_MS_MAX = 30_000

export interface LiveStore {
  readonly get: () => LiveState
  /** Opens the stream for as long as somebody listens. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Between the tabs of a browser. */
type Shared =
  | { readonly type: 'message'; readonly message: LiveMessage }
  | { readonly type: 'hello' }
  | { readonly type: 'state'; readonly state: LiveState }

/** `isSignedIn` comes before a stream is asked for: an EventSource that is refused is an error in the browser's console. */
export function createLiveStore(isSignedIn: () => Promise<boolean>): LiveStore {
  let state = NOTHING
  let isHolding = false
  let ending: AbortController | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  const listeners = new Set<() => void>()
  const channel = new BroadcastChannel(CHANNEL)

  const share = (shared: Shared) => channel.postMessage(shared)
  const set = (next: LiveState) => {
    state = next
    for (const listener of listeners) listener()
  }
  const hear = (message: LiveMessage) => {
    clearTimeout(silence)
    silence = setTimeout(() => set({ ...state, status: 'offline' }), SILENCE_MS)
    set(after(state, message))
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Shared>) => {
    // Messages carry changes alone: a new tab needs the state before them, and keeps no change that comes earlier.
    const isNew = state.at === undefined
    if (data.type === 'message' && (!isNew || data.message.whole === true)) hear(data.message)
    else if (data.type === 'hello' && isHolding) share({ type: 'state', state })
    else if (data.type === 'state' && isNew) set(data.state)
  })

  /** Holds the stream while this tab is visible; the lock waits for the tab that holds it before. */
  const follow = () => {
    const isWanted = listeners.size > 0 && document.visibilityState === 'visible'
    if (isWanted && ending === undefined) {
      share({ type: 'hello' })
      const { signal } = (ending = new AbortController())
      void navigator.locks
        .request(LOCK, { signal }, async () => {
          isHolding = true
          const lost = () => {
            set({ ...state, status: 'offline' })
            // An EventSource has no status: the read of the session says whether it is over.
            tellSignedOut()
          }
          await hold(signal, { isSignedIn, tell, lost })
          isHolding = false
        })
        .catch(() => undefined)
    }
    if (!isWanted) {
      ending?.abort()
      ending = undefined
      clearTimeout(silence)
    }
  }
  const tell = (message: LiveMessage) => {
    hear(message)
    share({ type: 'message', message })
  }
  document.addEventListener('visibilitychange', follow)

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener)
      follow()
      return () => {
        listeners.delete(listener)
        follow()
      }
    },
  }
}

/** Resolves by the first message, or after this time: true when there is one. */
export const firstMessage = ({ get, subscribe }: LiveStore, waitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const isThere = () => get().at !== undefined
    const end = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve(isThere())
    }
    const timer = setTimeout(end, isThere() ? 0 : waitMs)
    const unsubscribe = subscribe(() => isThere() && end())
  })

/** Reads streams one after the other, each from the last message on, until the signal. */
async function hold(
  signal: AbortSignal,
  {
    isSignedIn,
    tell,
    lost,
  }: {
    readonly isSignedIn: () => Promise<boolean>
    readonly tell: (message: LiveMessage) => void
    readonly lost: () => void
  },
): Promise<void> {
  let lastId = ''
  for (let failures = 0; !signal.aborted;) {
    const isOpen = await isSignedIn()
    // A signal that has ended meanwhile would end no stream that begins now.
    if (signal.aborted) return
    if (!isOpen) {
      await pause(RETRY_MS, signal)
      continue
    }
    const ended = await readStream(signal, lastId, (message, id) => {
      failures = 0
      lastId = id
      tell(message)
    })
    if (signal.aborted) return
    if (ended === 'over') continue
    lost()
    await pause(Math.min(RETRY_MS * 2 ** failures++, RETRY_MS_MAX), signal)
  }
}

/** `over`: the stream came to its end and is asked for again; `broken`: it did not answer, or stopped. */
function readStream(
  signal: AbortSignal,
  lastId: string,
  tell: (message: LiveMessage, id: string) => void,
): Promise<'over' | 'broken'> {
  return new Promise((resolve) => {
    const source = new EventSource(lastId === '' ? ADDRESS : `${ADDRESS}?after=${lastId}`)
    const close = (how: 'over' | 'broken') => {
      clearTimeout(silence)
      source.close()
      resolve(how)
    }
    // A connection can stop without an end, such as behind a proxy or after a sleep of the machine.
    const silent = () => setTimeout(() => close('broken'), SILENCE_MS)
    let silence = silent()
    source.addEventListener('message', ({ data, lastEventId }) => {
      clearTimeout(silence)
      silence = silent()
      tell(JSON.parse(String(data)) as LiveMessage, lastEventId)
    })
    source.addEventListener('end', () => close('over'))
    source.addEventListener('error', () => close('broken'))
    signal.addEventListener('abort', () => close('broken'), { once: true })
  })
}
