// The table of routes: which resource a request is for.
import { LOOPBACK_HOSTS } from '#base/hosts.ts'
import type { Tariff } from '#charging/tariff.ts'
import { hostLabelOf, type FunctionsAddress } from '#contract/functions/functions-address.ts'
import type { RoutedKind } from './kinds.ts'

export type IngressRoute = {
  /** The id of the resource. */
  readonly id: string
  readonly kind: RoutedKind
  readonly account: string
  /** A whole name; null for the addresses of the account. */
  readonly host: string | null
  readonly path: string
  readonly timeoutS: number
  /** Null: that of the kind. */
  readonly concurrency: number | null
  /** Null: there is one instance. */
  readonly scale: InstanceScale | null
}

/** The number of instances. Another one starts where each has `target` requests at once. */
export type InstanceScale = { readonly min: number; readonly max: number; readonly target: number }

/** The route of a request, and its path and address as the resource sees them. */
export type FoundRoute = {
  readonly route: IngressRoute
  readonly path: string
  readonly url: string
  readonly prefix: string
}

export interface Routes {
  find(host: string, url: string): FoundRoute | undefined
  /** The tariff of now; undefined before the first. */
  readonly tariff: Tariff | undefined
}

export class RouteTable implements Routes {
  /** The longest path first. */
  #hosts: ReadonlyMap<string | null, readonly IngressRoute[]> = new Map()
  /** Routes by the name that the account has in hosts; the longest path first. */
  #accounts: ReadonlyMap<string, readonly IngressRoute[]> = new Map()
  tariff: Tariff | undefined
  readonly #address: FunctionsAddress | undefined

  constructor(address: FunctionsAddress | undefined) {
    this.#address = address
  }

  put(routes: readonly IngressRoute[]): void {
    const sorted = routes.toSorted((a, b) => b.path.length - a.path.length)
    this.#hosts = Map.groupBy(sorted, ({ host }) => host)
    const ofAccounts = this.#hosts.get(null) ?? []
    this.#accounts = Map.groupBy(ofAccounts, ({ account }) => hostLabelOf(account))
  }

  /** The whole names of routes that are not below the address of functions, with the account that has each. */
  *hosts(): Iterable<readonly [host: string, account: string]> {
    const below = this.#address && `.${this.#address.host}`
    for (const [host, [route]] of this.#hosts)
      if (host !== null && route && (below === undefined || !host.endsWith(below)))
        yield [host, route.account]
  }

  find(host: string, url: string): FoundRoute | undefined {
    const name = host.toLowerCase().replace(/:\d+$/, '')
    const routes = this.#hosts.get(name)
    if (routes === undefined) return this.#findOfAccount(host, name, url)
    const route = routes.find(({ path }) => isBelow(url, path))
    return route && { route, path: url, url: `${this.#protocol}//${host}${url}`, prefix: '' }
  }

  #findOfAccount(host: string, name: string, url: string): FoundRoute | undefined {
    if (this.#address === undefined) return undefined
    const below = `.${this.#address.host}`
    const isNamed = name.endsWith(below)
    if (!isNamed && (this.#address.origin === undefined || !LOOPBACK_HOSTS.includes(name)))
      return undefined
    const [, account, rest = ''] = (isNamed ? undefined : IN_PATH.exec(url)) ?? []
    const label = isNamed ? name.slice(0, -below.length) : hostLabelOf(account ?? '')
    const path = isNamed ? url : rest.replace(/^(?!\/)/, '/')
    const route = this.#accounts.get(label)?.find((one) => isBelow(path, one.path))
    return (
      route && {
        route,
        path,
        url: `${this.#protocol}//${host}${path}`,
        prefix: account === undefined ? '' : `/~${account}`,
      }
    )
  }

  get #protocol(): string {
    return this.#address?.named.split('//', 1)[0] ?? 'http:'
  }
}

const IN_PATH = /^\/~([A-Za-z0-9_]+)(.*)$/s

function isBelow(url: string, route: string): boolean {
  const [path = ''] = url.split('?', 1)
  return route === '/' || path === route || path.startsWith(`${route}/`)
}
