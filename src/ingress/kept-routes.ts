// The last table of routes on disk: an ingress that starts while the state is away serves by it.
import { readFileSync } from 'node:fs'
import { writeDurably } from '#base/durable-file.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { isRoutedKind } from './kinds.ts'
import type { IngressRoute } from './routes.ts'

export type KeptRoutes = {
  readonly routes: readonly IngressRoute[]
  /** The body of the tariff; null before the first. */
  readonly tariff: unknown
}

export interface RoutesFile {
  /** Undefined where there is none that can be read. */
  read(): KeptRoutes | undefined
  /** Writes a table that differs from the last one. A disk that is full is logged: the table in memory serves. */
  write(kept: KeptRoutes): void
}

const MODE = 0o600

export function routesFile(path: string, log: Logger): RoutesFile {
  let last = ''
  return {
    read() {
      try {
        const kept = JSON.parse(readFileSync(path, 'utf8')) as KeptRoutes
        return { ...kept, routes: kept.routes.filter(({ kind }) => isRoutedKind(kind)) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn('The kept routes cannot be read', { error: messageOf(error) })
        return undefined
      }
    },
    write(kept) {
      const text = JSON.stringify(kept)
      if (text === last) return
      try {
        writeDurably(path, text, MODE)
        last = text
      } catch (error) {
        log.warn('The routes are not kept', { error: messageOf(error) })
      }
    },
  }
}
