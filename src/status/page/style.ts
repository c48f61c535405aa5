// The style of the status page: the colours and sizes of the portal, with the fonts that the reader has.

const LIGHT = `--bg:#e4e8e6;--plate:#fafbf9;--ink:#12181a;--ink-2:#333e42;--ink-3:#414d51;--line:#c6cecb;--edge:#74807f;--ok:#0b5636;--warn:#674000;--bad:#95111b`
const DARK = `--bg:#13181a;--plate:#1b2224;--ink:#eef3f1;--ink-2:#c3cecb;--ink-3:#afbab8;--line:#333d40;--edge:#788684;--ok:#7fd6a8;--warn:#ffbf66;--bad:#ffa39d`

/** The text of the style element: its hash is in the Content-Security-Policy. */
export const STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box;margin:0}
body{background:var(--bg);color:var(--ink);font:400 1.0625rem/1.5 "DIN Alternate",Bahnschrift,"Segoe UI",system-ui,sans-serif;font-variant-numeric:tabular-nums}
.page{max-width:960px;margin:0 auto;padding:0 24px 72px}
a{color:inherit;text-underline-offset:3px}
a:focus-visible{outline:2px solid var(--ink);box-shadow:0 0 0 5px #ffcc1a}
h1{font-size:1.625rem;line-height:32px;font-weight:620;margin-bottom:4px}
h2{font-size:1.25rem;line-height:28px;font-weight:620}
h3{font-size:1.0625rem;font-weight:620}
.top{display:flex;align-items:center;gap:12px;padding:24px 0;font-size:1.25rem;font-weight:620}
.top svg{width:26px;height:26px;flex:none}
.top nav{margin-left:auto;font-size:.9375rem;font-weight:400;display:flex;gap:16px}
.top nav a{padding:10px 0}
.verdict{display:flex;gap:16px;align-items:flex-start;padding:16px 0 32px}
.verdict>.sign{flex:none;padding-top:2px}
.verdict .sign svg{width:40px;height:40px;display:block}
.note,.from{color:var(--ink-3);font-size:.9375rem;line-height:22px}
.note{max-width:65ch}
ul+.from,.note+table{margin-top:12px}
section{border-top:2px solid var(--ink);padding-top:12px;margin-top:32px}
.head{display:flex;justify-content:space-between;align-items:baseline;gap:4px 16px;flex-wrap:wrap;margin-bottom:8px}
ul,ol{list-style:none;padding:0}
.part{display:grid;grid-template-columns:minmax(0,3fr) 9.5rem minmax(0,6fr) 9.5rem;gap:4px 16px;align-items:center;padding:12px 0;border-bottom:1px solid var(--line)}
.part h3{font-weight:400;overflow-wrap:anywhere}
.part.sub h3{padding-left:16px;font-size:.9375rem;color:var(--ink-2)}
.part>svg{width:100%;height:26px}
.part>.up{text-align:right;font-size:.9375rem;white-space:nowrap}
.state{font-weight:620;font-size:.9375rem;display:flex;gap:8px;align-items:center}
.state svg{width:16px;height:16px;flex:none}
.ok{color:var(--ok)}.degraded{color:var(--warn)}.down{color:var(--bad)}.unknown{color:var(--ink-3)}
.bar-ok{fill:var(--edge)}.bar-degraded{fill:var(--warn)}.bar-down{fill:var(--bad)}
.bar-unknown{fill:none;stroke:var(--edge);stroke-width:1}
.incident{padding:12px 0;border-bottom:1px solid var(--line);max-width:72ch;overflow-wrap:anywhere}
.incident p,.incident li{margin-top:8px}
.incident ol{border-left:1px solid var(--edge);padding-left:16px}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;padding:8px 16px 8px 0;border-bottom:1px solid var(--line)}
th{font-weight:620}
.num{text-align:right}
.id{font-family:ui-monospace,"DejaVu Sans Mono",Consolas,monospace;font-size:.875rem}
.regions{display:flex;gap:8px 32px;flex-wrap:wrap}
.regions li{display:flex;gap:12px}
@media (max-width:759px){
.verdict{gap:12px}
th,td{padding-right:8px}
.page{padding:0 16px 48px}
.part{grid-template-columns:minmax(0,1fr) auto auto}
.part>svg{grid-row:2;grid-column:1/-1}
}
@media (max-width:479px){
.part{grid-template-columns:minmax(0,1fr) auto}
.part h3{grid-column:1/-1}
.part>svg{grid-row:3}
}
@media (forced-colors:active){.bar-ok{fill:GrayText}.bar-degraded,.bar-down{fill:CanvasText}}
`
