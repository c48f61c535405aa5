// The routes of all resources, as the state has them. While the state is away the last table serves.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { readTariff } from '#charging/tariff.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { KeptRoutes, RoutesFile } from './kept-routes.ts'
import { isRoutedKind } from './kinds.ts'
import type { IngressRoute, RouteTable } from './routes.ts'

const AGAIN_MS = 15_000
const AFTER_FAULT_MS = 2000
const ROUTES = `select i.resource as id, r.kind, i.account, i.host, i.path, i.timeout_s as "timeoutS", i.concurrency, i.scale
  from ingress_routes i join resources r on r.id = i.resource`

export const readRoutes = async (state: Queryable): Promise<readonly IngressRoute[]> =>
  (await state.query<IngressRoute>(ROUTES)).rows.filter(({ kind }) => isRoutedKind(kind))

/** Keeps the table as the state has it, and its file, until the signal aborts. Never rejects. */
export async function followRoutes(
  table: RouteTable,
  {
    state,
    meter,
    file,
    log,
  }: {
    readonly state: State
    readonly meter: string
    readonly file: RoutesFile
    readonly log: Logger
  },
  signal: AbortSignal,
): Promise<void> {
  const take = ({ routes, tariff }: KeptRoutes) => {
    table.put(routes)
    if (tariff !== null) table.tariff = readTariff(tariff)
  }
  const kept = file.read()
  if (kept !== undefined) take(kept)
  while (!signal.aborted)
    try {
      let waiting = new AbortController()
      await using _ = await state.listen('ergon_routes', () => waiting.abort())
      while (!signal.aborted) {
        waiting = new AbortController()
        const routes = await readRoutes(state)
        const { rows } = await state.query('select body from tariffs where meter = $1', [meter])
        const now = { routes, tariff: rows[0]?.['body'] ?? null }
        take(now)
        file.write(now)
        await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
      }
    } catch (error) {
      if (signal.aborted) return
      log.warn('Routes are as they were: the state is away', { error: messageOf(error) })
      await sleep(AFTER_FAULT_MS, signal).catch(() => undefined)
    }
}
