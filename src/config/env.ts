// The names of every setting, and the only place that reads the environment beside data-place.ts. The flag of a secret names
// a file that holds it: command lines are shown to every user of the machine (ps).
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { onOff } from './checks.ts'
import { SETTINGS, type SettingKey } from './settings.ts'

/** Settings whose flag names a file; by key. */
export const isSecret = (key: SettingKey): boolean => 'isSecret' in SETTINGS[key]

/** True for a setting that is on or off: its flag stands alone for on. */
export function isSwitch(key: SettingKey): boolean {
  const { check } = SETTINGS[key]
  return check instanceof z.ZodDefault && check.unwrap() === onOff
}

export type RawSettings = { readonly [K in SettingKey]?: string }

/** Reads the secret in a file, without the newline at its end. Throws errors of the file system. */
export const readSecretFile = (path: string): string =>
  readFileSync(path, 'utf8').replace(/\r?\n$/, '')

/** Reads the environment; empty values count as absent. */
export function readEnvironment(): RawSettings {
  const found: { [K in SettingKey]?: string } = {}
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingKey, { name: string }][]) {
    const value = process.env[setting.name]
    if (value !== undefined && value !== '') found[key] = value
  }
  return found
}

/** The descriptor whose end of file tells that the starting process is gone. */
export const parentDescriptor = (): number | undefined => {
  const value = Number(process.env['ERGON_PARENT_FD'] ?? '')
  return Number.isInteger(value) && value > 2 ? value : undefined
}

/** The part of the environment that child programs such as pip and apt get. */
export function toolEnvironment(): Readonly<Record<string, string>> {
  const keep = [
    'PATH',
    'HOME',
    'LANG',
    'TMPDIR',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'SSL_CERT_FILE',
  ]
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined && (keep.includes(name) || name.startsWith('PIP_'))) found[name] = value
  return found
}
