/** Records of jobs as migrations write them, loaded with the first deletion or undo. */
export {
  importedOf,
  laneOf,
  lineOfRecord,
  recordOfLine,
  recordOfStanding,
  tagOf,
} from '@crossgear/migration'
