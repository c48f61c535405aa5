// The settings of this browser, kept in it and nowhere else.
import type { Zone } from '#console/figures/time.ts'

type Settings = {
  readonly zone: Zone
  readonly theme: 'system' | 'light' | 'dark'
  /** Single keys: `g o`, `j`, `c` and others. */
  readonly keys: 'on' | 'off'
}
const DEFAULTS: Settings = { zone: 'UTC', theme: 'system', keys: 'on' }
const PREFIX = 'ergon.'

const listeners = new Set<() => void>()

export const settings = {
  get<Name extends keyof Settings>(name: Name): Settings[Name] {
    return (localStorage.getItem(PREFIX + name) ?? DEFAULTS[name]) as Settings[Name]
  },
  set<Name extends keyof Settings>(name: Name, value: Settings[Name]): void {
    localStorage.setItem(PREFIX + name, value)
    applyTheme()
    for (const listener of listeners) listener()
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** Marks the document with the theme; the system's is no mark. */
export function applyTheme(): void {
  const theme = settings.get('theme')
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
