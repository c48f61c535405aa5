// The routes: each page of the list loads by itself.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
} from '@tanstack/react-router'
import { PAGES, type PageEntry } from '#console/pages/list.ts'
import { Waiting } from '#console/parts/page/loaded.tsx'
import { Head } from './head.tsx'
import { loadPage } from './load-page.ts'
import { PageFailed } from './page-failed.tsx'
import { Settling } from './settling.tsx'
import { Shell } from './shell.tsx'

/** It is made from the list, and so is not in the list. */
const MORE: Pick<PageEntry, 'path' | 'load'> = { path: '/more', load: () => import('./more.tsx') }

/** Search parameters are texts: `?service=inference` stays what it says. */
const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text))

const stringifySearch = (search: Record<string, unknown>): string => {
  const given = Object.entries(search).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

const settling = (page: Pick<PageEntry, 'path' | 'load'>): PageEntry['load'] => {
  const load = loadPage(page)
  return async function loadSettling() {
    const { Page } = await load()
    const SettlingPage = () => (
      <Settling>
        <Page />
      </Settling>
    )
    return { Page: SettlingPage }
  }
}

export function createConsoleRouter() {
  const root = createRootRoute({
    component: Shell,
    notFoundComponent: NotFound,
    errorComponent: PageFailed,
  })
  const routes = [...PAGES, MORE].map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      component: lazyRouteComponent(settling(page), 'Page'),
      errorComponent: PageFailed,
    }),
  )
  return createRouter({
    routeTree: root.addChildren(routes),
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Waiting what="this page" />,
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
  })
}

const NotFound = () => (
  <>
    <Head title="No such page" />
    <p>
      This address leads nowhere. <Link to="/">Go to the overview</Link>
    </p>
  </>
)
