// The status page in Chromium, light and dark, on a desk and on phones, under its own Content-Security-Policy. Nothing
// is blocked or fetched, and nothing needs a sideways scroll. axe-core finds no violation, enhanced contrast included.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { replaceFile } from '#status/page/files.ts'
import { pageHtml } from '#status/page/page-html.ts'
import { statusHeaders, serveStatus, type StatusServer } from '#status/page/server.ts'
import { STYLE } from '#status/page/style.ts'
import { openBrowser } from '../portal/browser.ts'
import { sampleDocument } from './sample-document.ts'

const VIEWS = [
  { colorScheme: 'light', width: 1280, height: 900 },
  { colorScheme: 'dark', width: 1280, height: 900 },
  { colorScheme: 'light', width: 390, height: 844 },
  { colorScheme: 'dark', width: 320, height: 640 },
] as const
/** Bytes of the page with all kinds of content. */
const PAGE_BYTES_MAX = 60_000

let folder: string
let server: StatusServer
let browser: Browser
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-status-'))
  replaceFile(folder, 'index.html', pageHtml(sampleDocument()))
  server = await serveStatus({
    folder,
    host: '127.0.0.1',
    port: 0,
    headers: statusHeaders(STYLE),
  })
  browser = await openBrowser()
})
after(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Names of parts that a line breaks within a word: a range of the word has two lines then. */
const BROKEN_WORDS = `[...document.querySelectorAll('.part h3')].flatMap((name) => {
  const text = name.firstChild
  return [...text.data.matchAll(/[^ -]+/g)].flatMap(({ 0: word, index }) => {
    const range = document.createRange()
    range.setStart(text, index)
    range.setEnd(text, index + word.length)
    return range.getClientRects().length > 1 ? [word] : []
  })
})`

/** Measured times that have a second line, or no room. */
const BROKEN_TIMES = `[...document.querySelectorAll('.part > .up')].flatMap((up) => {
  if (up.firstChild === null) return []
  const range = document.createRange()
  range.selectNodeContents(up)
  const isWide = up.scrollWidth > up.clientWidth
  return range.getClientRects().length > 1 || isWide ? [up.textContent] : []
})`

type Found = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

/** Rules that the page violates, with the first element of each. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = (await page.evaluate(
    `axe.run(document, { rules: { 'color-contrast-enhanced': { enabled: true } } }).then(({ violations }) => violations)`,
  )) as Found[]
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

for (const { colorScheme, width, height } of VIEWS)
  test(`the page is right at ${width} px, ${colorScheme}`, async () => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height } })
    const page = await context.newPage()
    const asked: string[] = []
    const faults: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    page.on('console', (message) => faults.push(message.text()))
    await page.goto(`http://127.0.0.1:${server.port}/`)
    assert.deepEqual(await violationsOf(page), [])
    assert.deepEqual(
      [
        asked.filter((path) => path !== '/favicon.ico'),
        faults.filter((text) => !text.includes('404')),
      ],
      [['/'], []],
    )
    const [wide, shown] = (await page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )) as [number, number]
    assert.ok(wide <= shown, `${wide} px of content in ${shown}`)
    assert.deepEqual(await page.evaluate(BROKEN_WORDS), [])
    assert.deepEqual(await page.evaluate(BROKEN_TIMES), [])
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert.equal(
      background,
      colorScheme === 'light' ? 'rgb(228, 232, 230)' : 'rgb(19, 24, 26)',
      'the style has the hash of the policy',
    )
    await context.close()
  })

test('a style that is not the one of the policy is blocked, and a violation is seen', async () => {
  const text = pageHtml(sampleDocument())
  replaceFile(
    folder,
    'index.html',
    text.replace('<style>', '<style>/**/').replace('<html lang="en">', '<html>'),
  )
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.port}/`)
  const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
  assert.equal(background, 'rgba(0, 0, 0, 0)')
  assert.ok((await violationsOf(page)).some((found) => found.startsWith('html-has-lang')))
  replaceFile(folder, 'index.html', text)
})

test('the page is small', () => {
  assert.ok(Buffer.byteLength(pageHtml(sampleDocument())) <= PAGE_BYTES_MAX)
})
