// Words that websites use in their own messages about logins. They say nothing about what was typed, even if somebody
// typed one of them as a password.
import * as actions from './actions.ts'
import * as fields from './fields.ts'
import { fold, words, type Words } from './match.ts'
import * as messages from './messages.ts'

/** What the lists that recognise pages leave out. */
const others = words(
  `a about above access accepted action actions activate activated active add admin administrator after again all allow allowed already also an and another any app apple application are as ask assistance at attempt attempts available back bank be because been before below between block blocked both box browser but button by can cannot caps case change changed character characters check choose clear click close combination complete computer confirm confirmed connect connected connection contact contain contains content continue correct correctly could create created credential credentials current customer data date day days default delete deleted demo details device did different digit digits direct directory disabled do does done down during each either empty enable enabled end ended enter entered entry error errors every example exist exists facebook fail fails field fields file fill find first five follow following for forget forgot forgotten form format found four free from full further get give given go google good group guest had has have he hello help her here his home hour hours how however i id if in inactive information input inside instead internal into is it its itself just keep key keyboard know known last later least length less letter letters like limit line link linked list load loaded loading local lock locked log logged login long longer look lost made mail make management manager many match matches matching maximum may me member members message method microsoft might minimum minute minutes missing mobile moment more most must my name names need needed network never new next no none nor not note nothing notice now number numbers of off ok okay old on once one online only open option options or other others our out over page part pass people per period permission person personal phone place please point portal possible post press previous private problems proceed process profile provide provided public question questions reach reached read ready really reason receive received record recover recovery register registered remaining remember request requested require required reset resource result retry return review right role same save saved say says screen search second seconds secret section secure security see select selected send sent server service session set settings several she short should show shown sign signed signin since site size so some something sorry source special staff start started state status step still stop store string student submit submitted success successful successfully such support sure switch system take team temporarily temporary test text than thank thanks that the their them then there these they thing things this those three through time times to today together too tool top tries trouble true trust try trying turn two type typed under unique until unsuccessful up update updated upper us use used user username users using valid validate validation value values verified verify version very via view visit wait waiting want warning was way we web website week welcome well went were what when where whether which while who why will window with within without word words work working would write year yes yet you your yours yourself zero`,
  `aber als am anmelden anmeldung auch auf aus bei beim benutzername bitte damit das dass dein deine dem den der des die dies diese dieser dieses doch durch ein eine einem einen einer eines erneut es falls felder für ganz geben haben hat hier ich ihr ihre ihren im in ist ja kann kein keine konnte konnten leider mit nach neu nicht noch nur oder ohne prüfen richtig sein seite sich sie sind sondern stimmt und uns unter versuchen versuch vom von vor war was wenn werden wie wieder wir wird wurde zu zum zur zugang zugangsdaten überprüfen`,
  `à au aucun aux avec avez bien ce ces cette champ compte connecter connexion dans de des deux du elle en est et être fois identifiants il la le les lien mais merci mot ne nous ou où par pas passe plus pour que qui saisi saisir sa se ses si son sont sur un une valable veuillez votre vos vous`,
  `al algo alguno antes aún bien campo como con correcta correcto cuenta datos de del desde el ella en entrar era es esta está este favor fue ha hay iniciar intente la las lo los más muy nombre nuevo o otra otro para pero por porque puede que quien se ser si sí sin sobre son su sus también tiene tu un una uno usted y ya`,
  `accedere accesso alla anche che chi come con corretti corretto credenziali da dei del della delle di dove è e gli ha ho i il in la le lo ma nel nella nome non o per più prego qui se sei si sono sua suo tua tuo un una uno utente`,
  `a acesso ao as até campo com como da dados de do dos e ela ele em entrar essa esse esta está este foi mais mas na nas no nome nos não o os ou para pela pelo por que se sem ser seu sua são tem um uma você`,
  `aan al als bij controleer dat de deze die dit door een en er geen het hier hoe ik in inloggen is je juist kan kun maar met naar niet nog of om onder ook op opnieuw over te tot uit uw van voor waar wat we wel wie worden zijn zo`,
)

const lists: readonly Words[] = [
  others,
  ...[actions, fields, messages].flatMap((module) => Object.values(module)),
]

let known: ReadonlySet<string> | undefined
const all = (): ReadonlySet<string> => (known ??= new Set(lists.flatMap((list) => list.singles())))

/** Some lists have stems. */
const ENDINGS = [
  's',
  'e',
  'es',
  'en',
  'er',
  'em',
  'n',
  'a',
  'o',
  'as',
  'os',
  'i',
  'y',
  'd',
  'ed',
  't',
  'te',
  'ing',
]
const MIN_STEM = 4

/** Whether the text is one such word. */
export function isOrdinary(text: string): boolean {
  const word = fold(text)
  if (/[^\p{L}\p{M}'-]/u.test(word)) return false
  return (
    all().has(word) ||
    ENDINGS.some(
      (ending) =>
        word.endsWith(ending) &&
        word.length - ending.length >= MIN_STEM &&
        all().has(word.slice(0, -ending.length)),
    )
  )
}
