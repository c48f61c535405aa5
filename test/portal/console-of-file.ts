// The built console and a browser, for all tests of a file; nothing where there is no browser.
import { after, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser, withoutBrowser } from './browser.ts'
import { buildConsole } from './console-build.ts'

/** Opens them before the first test and closes them after the last; the browser is there in hooks and tests. */
export function consoleOfFile(): () => Browser {
  let browser: Browser | undefined
  before(async () => {
    if (withoutBrowser !== false) return
    await buildConsole()
    browser = await openBrowser()
  })
  after(() => browser?.close())
  return () => {
    if (browser === undefined) throw new TypeError('no browser yet: ask in a hook or a test')
    return browser
  }
}
