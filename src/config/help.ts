// The output of `npm start -- --help`: every setting, from the table that settings are read by.
import { isSecret, isSwitch } from './env.ts'
import { SETTINGS, type SettingKey } from './settings.ts'

/** True when the command line asks for help, with whatever other arguments. */
export const asksForHelp = (argv: readonly string[]): boolean =>
  argv.includes('--help') || argv.includes('-h')

/** Every flag with its environment variable and its text. */
export const settingsHelp = (): string => `Starts the cloud on this machine, until Ctrl-C.

npm start -- [--flag value]…

${Object.keys(SETTINGS)
  .map((key) => entryOf(key as SettingKey))
  .join('\n')}
  --help
      This text

A flag wins over the environment. What runs is asked by ergon --help; the guide is docs/guide/starting.md.
`

function entryOf(key: SettingKey): string {
  const { name, flag, help } = SETTINGS[key]
  const value = isSecret(key) ? ' <file>' : isSwitch(key) ? ' [on|off]' : ' <value>'
  return `  --${flag}${value}   ${name}\n      ${help}`
}
