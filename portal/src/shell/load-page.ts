// Parts of the console that load by themselves. A part that cannot be read waits until the service answers; then the page
// loads anew, as a part may be missing because the service has a newer build, and a browser keeps some failures.
import { pause } from '#console/client/pause.ts'
import { unreachable } from '#console/client/problem.ts'
import type { PageEntry } from '#console/pages/list.ts'

const AGAIN_MS = 2_000
/** Ten minutes and more: then the reader asks again. */
const ASKS_MAX = 300
const ANSWER_MS = 10_000
const RELOADED = 'ergon.reloaded'
/** A part that fails again so soon after a reload is a fault. */
const RELOADS_EACH_MS = 30_000

/** Throws where nobody waits for the page: its link was only pointed at. */
export const loadPage =
  ({ path, load }: Pick<PageEntry, 'path' | 'load'>): PageEntry['load'] =>
  () =>
    loadPart(load, () => isAt(path))

/** `isWanted` is asked when the part could not be read. Throws Problem `unreachable` where the service stays away. */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  isWanted: () => boolean,
): Promise<Part> {
  try {
    return await load()
  } catch (error) {
    for (let asks = 1; !(await isAnswering()); asks++) {
      if (!isWanted()) throw error
      if (asks === ASKS_MAX) throw unreachable()
      await pause(AGAIN_MS)
    }
    const lastMs = Number(sessionStorage.getItem(RELOADED) ?? 0)
    if (!isWanted() || Date.now() - lastMs < RELOADS_EACH_MS) throw error
    sessionStorage.setItem(RELOADED, String(Date.now()))
    location.reload()
    return await new Promise<never>(() => undefined)
  }
}

/** A browser keeps the failure of a part: the whole page is loaded again. Throws Problem while nothing answers. */
export async function reloadOnceAnswering(): Promise<void> {
  if (!(await isAnswering())) throw unreachable()
  location.reload()
}

async function isAnswering(): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    return (await fetch('/', { method: 'HEAD', cache: 'no-store', signal })).ok
  } catch {
    return false
  }
}

const firstOf = (path: string): string | undefined => path.split('/')[1]
const isAt = (path: string): boolean => firstOf(location.pathname) === firstOf(path)
