import { linkScripts, type LinkedScripts } from './link-scripts.ts'

/** All scripts, linked as they are imported: in tests and from source. The build writes `dist/lua.js` in its place. */
export const linkedScripts: LinkedScripts = linkScripts(new URL('../../lua/', import.meta.url))
