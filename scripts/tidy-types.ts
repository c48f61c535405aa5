// Exported types have names of their own: two types of one name, or a name that the language or Node already gives,
// make a reader look twice at each use.
import type { Fault } from './tidy-contract.ts'

/** Names that TypeScript's libraries, Node or the web platform give, and that a type could be mistaken for. */
const GLOBALS: ReadonlySet<string> = new Set(
  `Account Array ArrayBuffer Awaited Blob Body Boolean Buffer Cache Client Comment Console Crypto CryptoKey Date
  Document Element Error Event EventSource EventTarget Exclude Extract File FormData Function Headers History Image
  Iterator Key Location Lock LockManager Map Module Navigator Node Notification Number Object Omit Option Partial
  Performance Pick Plugin Process Promise Proxy Range ReadableStream Readonly Record Reflect RegExp Report Request
  Required Response Selection Set Storage String Symbol Text Timer Touch URL Worker WritableStream`
    .split(/\s+/)
    .filter((name) => name !== ''),
)

const EXPORTED = /^export (?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gm

/** `sources` are the files under src/ without tests. */
export function typeFaults(sources: readonly { path: string; text: string }[]): Fault[] {
  const first = new Map<string, string>()
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(EXPORTED)].flatMap(({ 1: name = '', index }) => {
      const line = text.slice(0, index).split('\n').length
      if (GLOBALS.has(name))
        return [{ path, line, rule: `exports a type of a global's name: ${name}` }]
      const other = first.get(name)
      if (other === undefined || other === path) {
        first.set(name, path)
        return []
      }
      return [{ path, line, rule: `exports the type ${name}, and so does ${other}` }]
    }),
  )
}
