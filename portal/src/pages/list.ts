// Every page of the console: one line each. The board, the palette, the keys and the router are made from this list.
import type { ComponentType } from 'react'

/** The groups of the board, in its order. `none` is on no board, `operator` on that of the operator alone. */
export const CIRCUITS = ['main', 'services', 'money', 'account', 'operator'] as const
export type Circuit = (typeof CIRCUITS)[number] | 'none'

export type PageEntry = {
  /** `{-$name}` is a part of the address that may be missing, `$` all parts that follow. */
  readonly path: string
  readonly title: string
  readonly circuit: Circuit
  /** After `g`. */
  readonly key?: string
  /** The service whose watts the board shows beside it. */
  readonly service?: string
  readonly load: () => Promise<{ readonly Page: ComponentType }>
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    circuit: 'main',
    key: 'o',
    load: () => import('./overview/page.tsx'),
  },
  {
    path: '/playground',
    title: 'Playground',
    circuit: 'main',
    key: 'p',
    load: () => import('./playground/page.tsx'),
  },
  {
    path: '/models',
    title: 'Models',
    circuit: 'services',
    service: 'inference',
    load: () => import('./models/page.tsx'),
  },
  {
    path: '/workloads/{-$workload}',
    title: 'Workloads',
    circuit: 'services',
    key: 'c',
    service: 'workloads',
    load: () => import('./workloads/page.tsx'),
  },
  {
    path: '/functions/{-$function}',
    title: 'Functions',
    circuit: 'services',
    key: 'f',
    service: 'functions',
    load: () => import('./functions/page.tsx'),
  },
  {
    path: '/databases/{-$database}',
    title: 'Databases',
    circuit: 'services',
    key: 'd',
    service: 'databases',
    load: () => import('./databases/page.tsx'),
  },
  {
    path: '/storage/$',
    title: 'Storage',
    circuit: 'services',
    key: 's',
    service: 'storage',
    load: () => import('./storage/page.tsx'),
  },
  {
    path: '/deployments/{-$deployment}',
    title: 'Deployments',
    circuit: 'services',
    load: () => import('./deployments/page.tsx'),
  },
  {
    path: '/ledger/{-$receipt}',
    title: 'Ledger',
    circuit: 'money',
    key: 'l',
    load: () => import('./ledger/page.tsx'),
  },
  {
    path: '/usage',
    title: 'Usage',
    circuit: 'money',
    key: 'u',
    load: () => import('./usage/page.tsx'),
  },
  {
    path: '/budgets',
    title: 'Budgets',
    circuit: 'money',
    load: () => import('./budgets/page.tsx'),
  },
  {
    path: '/balance',
    title: 'Balance',
    circuit: 'money',
    key: 'b',
    load: () => import('./balance/page.tsx'),
  },
  {
    path: '/tokens',
    title: 'Tokens',
    circuit: 'account',
    key: 't',
    load: () => import('./tokens/page.tsx'),
  },
  {
    path: '/webhooks/{-$webhook}',
    title: 'Webhooks',
    circuit: 'account',
    key: 'w',
    load: () => import('./webhooks/page.tsx'),
  },
  {
    path: '/events',
    title: 'Events',
    circuit: 'account',
    load: () => import('./events/page.tsx'),
  },
  {
    path: '/members',
    title: 'Members',
    circuit: 'account',
    load: () => import('./members/page.tsx'),
  },
  {
    path: '/audit',
    title: 'Audit log',
    circuit: 'account',
    load: () => import('./audit/page.tsx'),
  },
  {
    path: '/evidence',
    title: 'Evidence',
    circuit: 'account',
    load: () => import('./evidence/page.tsx'),
  },
  {
    path: '/login/approve',
    title: 'Sign in a command line',
    circuit: 'none',
    load: () => import('./login/page.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    circuit: 'account',
    load: () => import('./settings/page.tsx'),
  },
  {
    path: '/operator/{-$circuit}',
    title: 'Operator',
    circuit: 'operator',
    load: () => import('./operator/page.tsx'),
  },
]

/** The pages of a group, for the signed-in member. */
export const pagesOf = (circuit: Circuit, isOperator: boolean): readonly PageEntry[] =>
  PAGES.filter((page) => page.circuit === circuit && (isOperator || circuit !== 'operator'))

/** The address of a page without the parts that may be missing. */
export const addressOfPage = ({ path }: PageEntry): string =>
  path.replace(/\/(\{-|\$).*$/, '') || '/'
