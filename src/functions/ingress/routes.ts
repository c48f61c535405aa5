// The routes of all functions, as the state has them. While the state is away the last table serves.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { readTariff, type Tariff } from '#charging/tariff.ts'
import { hostLabelOf, type FunctionsAddress } from '#contract/functions-address.ts'
import type { Queryable, State } from '#state/connect.ts'

export type FunctionRoute = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly route: string
  readonly timeoutS: number
}

/** A request's function, and its path and address as the function sees them. */
export type FoundFunction = {
  readonly route: FunctionRoute
  readonly path: string
  readonly url: string
  readonly prefix: string
}

export interface Routes {
  find(host: string, url: string): FoundFunction | undefined
  /** The tariff of now; undefined before the first. */
  readonly tariff: Tariff | undefined
}

const AGAIN_MS = 15_000
const AFTER_FAULT_MS = 2000
const ROUTES = `select f.id, f.account, n.name, v.route, v.timeout_s as "timeoutS"
  from functions f join resources n using (id) join function_versions v on v.function = f.id
    and v.version = coalesce(f.live_version, f.version)
  where f.route is not null`

/** Each function is found by the route of the version that answers. */
export const readRoutes = async (state: Queryable): Promise<readonly FunctionRoute[]> =>
  (await state.query<FunctionRoute>(ROUTES)).rows

export class RouteTable implements Routes {
  /** By the name of the account in hosts; the longest route first. */
  #accounts: ReadonlyMap<string, readonly FunctionRoute[]> = new Map()
  tariff: Tariff | undefined
  readonly #address: FunctionsAddress

  constructor(address: FunctionsAddress) {
    this.#address = address
  }

  put(routes: readonly FunctionRoute[]): void {
    const sorted = routes.toSorted((a, b) => b.route.length - a.route.length)
    this.#accounts = Map.groupBy(sorted, ({ account }) => hostLabelOf(account))
  }

  find(host: string, url: string): FoundFunction | undefined {
    const below = `.${this.#address.host}`
    const name = host.toLowerCase().replace(/:\d+$/, '')
    const isNamed = name.endsWith(below)
    if (!isNamed && (this.#address.origin === undefined || !HERE.has(name))) return undefined
    const [, account, rest = ''] = (isNamed ? undefined : IN_PATH.exec(url)) ?? []
    const label = isNamed ? name.slice(0, -below.length) : hostLabelOf(account ?? '')
    const path = isNamed ? url : rest.replace(/^(?!\/)/, '/')
    const [pathname = ''] = path.split('?', 1)
    const route = this.#accounts.get(label)?.find((one) => isBelow(pathname, one.route))
    const [protocol] = this.#address.named.split('//', 1)
    return (
      route && {
        route,
        path,
        url: `${protocol}//${host}${path}`,
        prefix: account === undefined ? '' : `/~${account}`,
      }
    )
  }
}

/** Of the addresses that begin with an account. */
const HERE = new Set(['localhost', '127.0.0.1', '[::1]'])
const IN_PATH = /^\/~([A-Za-z0-9_]+)(.*)$/s

const isBelow = (path: string, route: string): boolean =>
  route === '/' || path === route || path.startsWith(`${route}/`)

/** Keeps the table as the state has it, until the signal aborts. Never rejects. */
export async function followRoutes(
  table: RouteTable,
  { state, meter, log }: { readonly state: State; readonly meter: string; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      let waiting = new AbortController()
      await using _ = await state.listen('ergon_resources', (kind) => {
        if (kind === 'function') waiting.abort()
      })
      while (!signal.aborted) {
        waiting = new AbortController()
        table.put(await readRoutes(state))
        const { rows } = await state.query('select body from tariffs where meter = $1', [meter])
        if (rows[0] !== undefined) table.tariff = readTariff(rows[0]['body'])
        await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
      }
    } catch (error) {
      if (signal.aborted) return
      log.warn('Routes are as they were: the state is away', { error: messageOf(error) })
      await sleep(AFTER_FAULT_MS, signal).catch(() => undefined)
    }
}
