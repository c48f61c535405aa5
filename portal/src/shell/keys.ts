// Keys of the whole console. Single keys are off while typing, with a modifier, in dialogs, and by a setting.
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { addressOfPage, PAGES } from '#console/pages/list.ts'
import { settings } from '#console/parts/browser/settings.ts'
import { isTyping } from '#console/parts/browser/typing.ts'
import { openPalette } from './palette-state.ts'

/** `g` waits for its second key for this time. */
const CHORD_MS = 1_000

/** Elements that single keys act on, by their attribute. */
const ROW = '[data-row]'
const COPY = '[data-copy]'

export function useKeys(): void {
  const router = useRouter()
  useEffect(() => {
    let chordUntil = 0
    const act = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        openPalette()
        return
      }
      const isFree = !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping(event.target)
      if (!isFree || settings.get('keys') === 'off' || document.querySelector('dialog[open]'))
        return
      if (Date.now() < chordUntil) {
        chordUntil = 0
        const page = PAGES.find(({ key }) => key === event.key)
        if (page !== undefined) void router.navigate({ to: addressOfPage(page) })
      } else if (event.key === 'g') chordUntil = Date.now() + CHORD_MS
      else if (press(event.key)) event.preventDefault()
    }
    document.addEventListener('keydown', act)
    return () => document.removeEventListener('keydown', act)
  }, [router])
}

/** True when the key did something. */
function press(key: string): boolean {
  if (key === '/' || key === '?') openPalette()
  else if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === 'c') copyExact()
  else if (key === 's') saySum()
  else return false
  return true
}

/** Moves the focus among the rows of the page. */
function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROW)]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by]
  const link = next?.matches('a, button') ? next : next?.querySelector<HTMLElement>('a, button')
  link?.focus()
}

/** Copies the exact figure of the row in focus, or the first of the page. */
function copyExact(): void {
  const row = document.activeElement?.closest(ROW)
  const holder = row?.querySelector(COPY) ?? document.querySelector(COPY)
  const text = holder?.getAttribute('data-copy')
  if (text !== null && text !== undefined) void navigator.clipboard.writeText(text)
}

/** Live figures are silent: this says the sum of the page. */
function saySum(): void {
  const region = document.querySelector('#announcements')
  const sum = document.querySelector('main .register .spoken')?.textContent
  if (region !== null) region.textContent = sum ?? 'This page has no sum'
}
