import { linkScripts, type LinkedScripts } from './link-scripts.ts'

/**
 * All scripts, linked on import: in tests and from source. The build puts `dist/lua.js` in its
 * place.
 */
export const linkedScripts: LinkedScripts = linkScripts(new URL('../../lua/', import.meta.url))
