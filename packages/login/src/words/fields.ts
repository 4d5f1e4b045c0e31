// Words that name fields.
import { words } from './match.ts'

export const passwordWords = words(
  `password | passwd | pwd | =pass | passphrase | passcode | passwort | kennwort | mot de passe | motdepasse | =mdp
   contraseña | contrasena | clave | =senha | palavra-passe | palavra passe | parola d'ordine | wachtwoord | lösenord
   adgangskode | =kode ord | kodeord | passord | salasana | hasło | heslo | пароль | şifre | parola | sifre
   パスワード | 密码 | 密碼 | 口令 | 비밀번호 | 암호 | jelszó | parolă | κωδικός | סיסמה | كلمة المرور | mật khẩu | รหัสผ่าน
   парол | parol | лозинк | lozink | zapork | geslo | slaptažod | kata sandi | =sandi | contrasenya | pasahitza | lykilorð | salasõna | құпия сөз | şifrə | رمز عبور | کلمه عبور | گذرواژه | پاس ورڈ | पासवर्ड | পাসওয়ার্ড | கடவுச்சொல் | პაროლი | գաղտնաբառ | συνθηματικό`,
)

export const newPasswordWords = words(
  `new password | newpassword | new pass | confirm | repeat | retype | re-enter | reenter | again | create password | choose a password
   neues passwort | neues kennwort | wiederholen | bestätigen | nouveau | confirmer | nueva contraseña | confirmar | repetir
   nuova password | conferma | ripeti | nova senha | nieuw wachtwoord | herhaal | bevestig | nytt lösenord | bekräfta | upprepa
   nyt kodeord | gentag | nytt passord | gjenta | uusi salasana | vahvista | nowe hasło | powtórz | nové heslo | znovu
   новый пароль | повторите | подтвердите | новий пароль | yeni şifre | tekrar | 新しいパスワード | 確認 | 新密码 | 确认密码 | 새 비밀번호 | 확인
   επιβεβαί | megerősít | xác nhận | nhập lại | konfirmasi | ulangi | تکرار | تأكيد | ยืนยัน | אימות | potvrdi | potrdi | pakartot | подтвержд | повтор`,
)

/** Only where people read them: a name such as `create_session` speaks of something else. */
export const createWords = words(
  `=create | choose a | choose your | =set | set a | set your | erstellen | créer | crear | crea una | criar`,
)

export const emailWords = words(
  `email | e-mail | e mail | mail | courriel | correo | correio | posta elettronica | sähköposti | epost | e-post | pošta | poczta
   почта | эл. адрес | пошта | eposta | e-posta | メール | 邮箱 | 郵箱 | 电子邮件 | 電子郵件 | 이메일 | البريد | بريد إلكتروني
   имейл | ηλεκτρον | ایمیل | ईमेल | ইমেইল | ელფოსტა | thư điện tử | דוא | אימייל | อีเมล | =surel | el. pašt | e-past | e-poçt`,
)

export const phoneWords = words(
  `phone | mobile | =tel | telephone | cell | handy | telefon | téléphone | móvil | teléfono | cellulare | telemóvel | telefone | celular
   telefoon | mobil | matkapuhelin | puhelin | komórka | телефон | telefon | 電話 | 手机 | 手機 | 전화 | 휴대폰`,
)

export const usernameWords = words(
  `user | username | userid | =uid | uname | usr | login | =log in | loginid | loginname | signin | logon | account | acct | accountname | identifier | identifiant
   member | membership | customer | client id | employee | student id | nickname | =nick | =handle | =id
   benutzer | anmeldename | nutzer | kennung | konto | mitglied | kunden | utilisateur | pseudo | usuario | utente | nome utente | utilizador | usuário
   gebruiker | användar | kund | bruger | bruker | brukernavn | käyttäj | tunnus | użytkownik | uživatel | jméno | пользовател | логин | учетн
   користувач | логін | kullanıcı | üye | ユーザ | アカウント | ログインid | 会員 | 用户 | 用戶 | 账号 | 帳號 | 账户 | 帐号 | 아이디 | 사용자 | 계정 | اسم المستخدم | المستخدم | رقم العميل | שם משתמש
   felhasznál | χρήστη | utilizator | nama pengguna | tên đăng nhập | tài khoản | ชื่อผู้ใช้ | نام کاربری | потребител | koris | корис | uporabnišk | vartotoj | lietotāj | kasutaja | používate | usuari | istifadəçi | उपयोगकर्ता | მომხმარებ`,
)

/** Unlike `customer` or `account`, these name nothing but what a person signs in with. */
export const loginNameWords = words(
  `username | user name | userid | user id | login name | loginname | login id | loginid | benutzername | anmeldename | nutzername | nom d'utilisateur | identifiant | nombre de usuario | =usuario | nome utente | nome de usuário | nome de utilizador | gebruikersnaam | användarnamn | brugernavn | brukernavn | käyttäjätunnus | käyttäjänimi | nazwa użytkownika | uživatelské jméno | používateľské meno | имя пользователя | =логин | ім'я користувача | =логін | kullanıcı adı | felhasználónév | nume de utilizator | όνομα χρήστη | tên đăng nhập | ユーザー名 | ユーザーid | ログインid | 用户名 | 用戶名 | 登录名 | 사용자 이름 | 아이디 | اسم المستخدم | שם משתמש`,
)

/** Numbers that a state gives to people and companies. Many authorities and banks use them as user names. */
export const nationalIdWords = words(
  `national id | identity number | =ssn | social security number | tax id | =cpf | =cnpj | =dni | =nif | =nie | =rut | cédula | codice fiscale | numéro fiscal | personnummer | cpr-nummer | =cpr | henkilötunnus | =pesel | rodné číslo | isikukood | asmens kod | personas kods | =инн | =снилс | паспорт | kimlik no | =tckn | 身份证 | 身分證 | マイナンバー | 주민등록번호 | رقم الهوية | کد ملی | cmnd | =cccd`,
)

/** Fields of sign-up forms and profiles, which a login never has. */
export const identityWords = words(
  `first name | firstname | =fname | last name | lastname | =lname | surname | full name | fullname | given name | middle name | display name
   birth | =dob | gender | street | address line | =city | =zip | postal | postcode | country | coupon | promo | voucher | credit card | =cvv | =cvc | =iban
   vorname | nachname | geburt | straße | prénom | nombre y apellido | apellido | cognome | achternaam | voornaam | förnamn | efternavn | etunimi | imię | příjmení | имя и фамилия | фамилия | 姓名 | 氏名 | 이름`,
)

export const codeWords = words(
  `=otp | =totp | =otc | 2fa | =mfa | =tfa | one-time | one time | onetime | verification code | verificationcode | security code | securitycode | confirmation code | auth code | authcode | authentication code
   authenticator | two-factor | twofactor | two factor | second factor | =factor | login code | logincode | access code | sms code | smscode | email code | emailcode | approvals code | =vcode | passcode | 6-digit | six-digit | digit code
   einmalcode | einmalpasswort | bestätigungscode | sicherheitscode | verifizierungscode | prüfcode | anmeldecode | code de vérification | code de sécurité | code à usage unique | code de connexion | code de validation
   código de verificación | código de seguridad | código de un solo uso | codice di verifica | codice di sicurezza | codice monouso | código de verificação | código de segurança
   verificatiecode | beveiligingscode | eenmalige code | inlogcode | verifieringskod | engångskod | säkerhetskod | bekræftelseskode | engangskode | sikkerhedskode | bekreftelseskode | sikkerhetskode
   vahvistuskoodi | turvakoodi | kertakäyttö | kod weryfikacyjny | kod jednorazowy | kod bezpieczeństwa | ověřovací kód | jednorázový | bezpečnostní kód
   код подтверждения | одноразовый | проверочный код | код безопасности | код підтвердження | одноразовий | doğrulama kodu | güvenlik kodu | tek kullanımlık
   認証コード | 確認コード | ワンタイム | セキュリティコード | 验证码 | 驗證碼 | 动态码 | 安全码 | 인증 코드 | 인증번호 | 보안 코드 | 일회용 | رمز التحقق | رمز الأمان | رمز الدخول`,
)

export const weakCodeWords = words(
  `=code | =pin | =token | challenge | verification | verify | codice | código | =kode | =kod | koodi | код | コード | 코드 | =cod | رمز`,
)

export const pinWords = words(`=pin | pin code | pin number | pin-code | пин-код | 暗証番号 | 비밀 번호`)

export const notCodeWords = words(
  `=zip | postal | postcode | post code | coupon | promo | voucher | discount | country code | area code | dial code | bank | sort code | referral | invite | invitation | =author | source code | qr
   postleitzahl | gutschein | código postal | code postal | rabatt | рекоменд`,
)

export const backupWords = words(
  `backup code | backup-code | recovery code | recovery key | rescue code | scratch code | emergency code | wiederherstellungscode | notfallcode | code de secours | code de récupération
   código de recuperación | códigos de respaldo | codice di backup | codice di recupero | código de recuperação | herstelcode | återställningskod | palautuskoodi | kod zapasowy | záložní kód | резервный код | код восстановления
   резервний код | yedek kod | kurtarma kodu | バックアップコード | 回復コード | リカバリー | 备用码 | 恢复码 | 백업 코드 | 복구 코드`,
)

export const totpWords = words(
  `authenticator | authentication app | authenticator app | otp app | mobile app | =totp | google authenticator | authy | freeotp | code from your app | code generated by | app on your phone | from the app | your app | 2fa app
   authenticator-app | authentifizierungs-app | authentifizierungsapp | authentifikator | app d'authentification | application d'authentification | aplicación de autenticación | app de autenticación | app di autenticazione
   aplicativo de autenticação | app autenticador | autenticador | authenticatie-app | autentiseringsapp | autentifikations | todennussovell | aplikacji uwierzytelniaj | aplikacja | ověřovací aplikac
   приложени | аутентификатор | застосун | doğrulama uygulama | 認証アプリ | 验证器 | 身份验证器 | 驗證器 | 인증 앱 | 인증기 | تطبيق المصادقة`,
)

export const smsWords = words(
  `=sms | text message | texted | text you | text me | via text | by text | your phone | your mobile | phone number | phone ending | mobile number | number ending | sent to your phone
   textnachricht | handynummer | telefonnummer | texto | mensaje de texto | message de ton | messaggio di testo | mensagem de texto | sms-bericht | tekstbericht | textmeddelande | tekstbesked | tekstmelding | tekstiviesti
   wiadomość sms | смс | sms-сообщ | kısa mesaj | ショートメッセージ | 短信 | 簡訊 | 문자 메시지 | 문자 | رسالة نصية`,
)

export const emailSentWords = words(
  `emailed | e-mailed | sent an email | sent you an email | sent a code to your email | your inbox | check your email | check your inbox | email address | by email | via email | code we sent to | your email | =mail | email
   e-mail gesendet | postfach | per e-mail | par e-mail | par courriel | boîte de réception | correo electrónico | por correo | via e-mail | casella | por e-mail | caixa de entrada | per mail | mailbox
   via e-post | inkorg | innboks | indbakke | sähköpostiin | na e-mail | skrzynk | e-mailem | по почте | электронной почт | на пошту | e-posta ile | メールに | メールで | 邮件 | 邮箱 | 電郵 | 이메일로 | بريدك`,
)

export const searchWords = words(
  `search | =q | query | =find | filter | lookup | suche | recherche | buscar | búsqueda | cerca | pesquisa | zoeken | sök | søg | søk | haku | szukaj | hledat | поиск | пошук | ara | 検索 | 搜索 | 搜尋 | 검색`,
)

export const ignoredWords = words(
  `newsletter | subscribe | subscription | mailing list | honeypot | honey pot | =fake | coupon | promo | locale | language | timezone | abonnieren | abonner | suscrib | iscriviti`,
)

export const captchaWords = words(
  `captcha | recaptcha | hcaptcha | turnstile | what is shown | characters in the image | characters you see | letters you see | letters in the picture | not a robot | am human | i'm human | prove you are human | security image | type the characters | sum of
   zeichen im bild | kein roboter | pas un robot | caractères | no soy un robot | non sono un robot | não sou um robô | geen robot | ロボットではありません | 图片验证码 | 图形验证码 | 机器人 | 로봇이 아닙니다`,
)

export const rememberWords = words(
  `remember | keep me | keep signed | keep logged | stay signed | stay logged | trust this | don't ask again | do not ask again | this is my device | angemeldet bleiben | merken | eingeloggt bleiben | gerät vertrauen
   se souvenir | rester connecté | mémoriser | recordar | recuérdame | mantener sesión | no cerrar sesión | ricordami | resta connesso | resta collegato | lembrar | manter conectado | manter sessão | onthoud | ingelogd blijven | aangemeld blijven
   kom ihåg | håll mig | husk | forbliv | forbli | muista | pysy kirjautuneena | pysy | zapamiętaj | nie wylogowuj | zapamatovat | zůstat přihlášen | pamatovat | запомн | оставаться | запам'ят | beni hatırla | hatırla | oturumumu açık
   ログイン状態 | 記憶 | 保持 | 记住 | 記住 | 保持登录 | 로그인 상태 | 기억`,
)

export const answerWords = words(
  `security question | secret question | secret answer | security answer | =answer | sicherheitsfrage | question secrète | question de sécurité | pregunta de seguridad | domanda di sicurezza | pergunta de segurança`,
)

export const organisationWords = words(
  `company | organisation | organization | workspace | tenant | =team | domain | subdomain | site name | customer number | client number | firma | mandant | unternehmen | entreprise | société | empresa | organización | azienda | bedrijf | företag | virksomhed | bedrift | yritys | firmy | společnost | компани | организац | şirket | 会社 | 企業 | 公司 | 企业 | 회사`,
)
