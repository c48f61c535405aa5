// The browser and the system of a sign-in in words, from what the browser says of itself.

/** The first that fits: browsers also name those that they are made from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, 'Safari'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** "Chrome 141 on Linux"; the text itself when it names no known browser. */
export function browserOf(client: string): string {
  const [browser, version] = firstOf(BROWSERS, client)
  if (browser === undefined) return client
  const [system] = firstOf(SYSTEMS, client)
  return `${browser} ${version}${system === undefined ? '' : ` on ${system}`}`
}

function firstOf(
  names: readonly (readonly [RegExp, string])[],
  client: string,
): readonly [name: string, version: string | undefined] | readonly [] {
  for (const [pattern, name] of names) {
    const found = pattern.exec(client)
    if (found !== null) return [name, found[1]]
  }
  return []
}
