// The walk of tests through the console: a sign-up by its pages, faults that a page reports, and its check by axe.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Person } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const DESKTOP = { width: 1440, height: 900 }
/** 1280 px at 400 %. */
const SMALLEST = { width: 320, height: 640 }
const PHONE = { width: 390, height: 844 }
/** Each theme and each size; each with each in the long form. */
const LOOKS = [
  { viewport: DESKTOP, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
  ...(process.env['ERGON_LONG'] === '1'
    ? ([
        { viewport: DESKTOP, colorScheme: 'dark' },
        { viewport: PHONE, colorScheme: 'light' },
      ] as const)
    : []),
] as const

/** Buttons of the steps of a sign-up, up to the one that shows the token. */
export const STEPS = [
  'I have kept them',
  // … 50 kJ a day.
  'Stay on',
  'Make the token',
] as const

/** The steps from the landing page to "Ask something". */
export async function signUpByPages({ page }: Person, name = 'my-team'): Promise<void> {
  await page.locator('#name').fill(name)
  await page.getByRole('button', { name: 'Create a passkey' }).click()
  for (const button of [...STEPS, 'I have it'])
    await page.getByRole('button', { name: button, disabled: false }).click()
  await page.getByRole('heading', { name: 'Ask something' }).waitFor()
}

/** Presses a button by the keyboard. */
export async function pressButton(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name, disabled: false })
  await button.waitFor()
  await button.focus()
  await page.keyboard.press('Enter')
}

/** Faults that a page reported: errors, breaches of its policy, and requests to other origins than `further`. */
export function watch(page: Page, ...further: readonly string[]): () => readonly string[] {
  const found: string[] = []
  const own = [new URL(page.url()).origin, ...further]
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'blob:' && !own.includes(origin)) found.push(`asked ${request.url()}`)
  })
  page.on('pageerror', (error) => found.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) found.push(message.text())
  })
  return () => found
}

type AxeResult = {
  readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[]
}

/** In this page and each that it opens. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addInitScript({ content: AXE })
  await page.reload()
}

/** Throws with the rules that the page breaks, in one of the themes and sizes. */
export async function checkPage(page: Page, name: string): Promise<void> {
  // Beside other tests the script of a page takes longer than its shifts are watched.
  await page.locator('h1').first().waitFor()
  for (const { viewport, colorScheme } of LOOKS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const result = (await page.evaluate(
      `axe.run(document, { rules: { 'color-contrast-enhanced': { enabled: true } } })`,
    )) as AxeResult
    const faults = result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
    const look = `${name}, ${viewport.width} px, ${colorScheme}`
    assert.deepEqual(faults, [], look)
    assert.deepEqual(await page.evaluate(TOO_WIDE), [], look)
  }
  await page.setViewportSize(SMALLEST)
  assert.deepEqual(await page.evaluate(TOO_WIDE), [], `${name}, 320 px`)
}

/** The elements that reach beyond a page with a scroll sideways. */
const TOO_WIDE = `document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll('main *')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.outerHTML.slice(0, 120))`
