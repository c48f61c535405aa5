// The environment of the command line. No other file of cli/ reads environment variables.
import { homedir } from 'node:os'
import { join } from 'node:path'

const value = (name: string): string | undefined => {
  const found = process.env[name]
  return found === undefined || found === '' ? undefined : found
}

export const environment = () => ({
  home: homedir(),
  path: value('PATH') ?? '',
  /** The login shell of the user. */
  shell: value('SHELL') ?? '',
  dataHome: value('XDG_DATA_HOME') ?? join(homedir(), '.local', 'share'),
  configHome: value('XDG_CONFIG_HOME') ?? join(homedir(), '.config'),
  token: value('ERGON_TOKEN'),
  baseUrl: value('ERGON_BASE_URL'),
  data: value('ERGON_DATA'),
  /** https://no-color.org: any non-empty value turns colours off. */
  colours:
    value('NO_COLOR') === undefined && (value('FORCE_COLOR') !== undefined || process.stdout.isTTY),
  configFolder: join(value('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'ergon'),
})

/** The whole environment with further variables, for a program that the user asked for. */
export const environmentWith = (more: Readonly<Record<string, string>>) => ({
  ...process.env,
  ...more,
})
