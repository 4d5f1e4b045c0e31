// The names of X for its keysyms, as its protocol lists them. A line that begins with a number names that
// keysym and those after it, one each; a dash is one without a name. Characters beyond Latin 1 have the
// keysyms of Unicode here, which mean the same as their older ones. XF86 are the keys of media keyboards.

export const KEYSYM_NAMES = `
20 space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus
 comma minus period slash 0 1 2 3 4 5 6 7 8 9 colon semicolon less equal greater question at A B C D E F G H
 I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave a b c d
 e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde
a0 nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine
 guillemotleft notsign hyphen registered macron degree plusminus twosuperior threesuperior acute mu
 paragraph periodcentered cedilla onesuperior masculine guillemotright onequarter onehalf threequarters
 questiondown Agrave Aacute Acircumflex Atilde Adiaeresis Aring AE Ccedilla Egrave Eacute Ecircumflex
 Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH Ntilde Ograve Oacute Ocircumflex Otilde Odiaeresis
 multiply Oslash Ugrave Uacute Ucircumflex Udiaeresis Yacute THORN ssharp agrave aacute acircumflex atilde
 adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis igrave iacute icircumflex idiaeresis eth
 ntilde ograve oacute ocircumflex otilde odiaeresis division oslash ugrave uacute ucircumflex udiaeresis
 yacute thorn ydiaeresis
fd01 3270_Duplicate 3270_FieldMark 3270_Right2 3270_Left2 3270_BackTab 3270_EraseEOF 3270_EraseInput
 3270_Reset 3270_Quit 3270_PA1 3270_PA2 3270_PA3 3270_Test 3270_Attn 3270_CursorBlink 3270_AltCursor
 3270_KeyClick 3270_Jump 3270_Ident 3270_Rule 3270_Copy 3270_Play 3270_Setup 3270_Record 3270_ChangeScreen
 3270_DeleteWord 3270_ExSelect 3270_CursorSelect 3270_PrintScreen 3270_Enter
fe01 ISO_Lock ISO_Level2_Latch ISO_Level3_Shift ISO_Level3_Latch ISO_Level3_Lock ISO_Group_Latch
 ISO_Group_Lock ISO_Next_Group ISO_Next_Group_Lock ISO_Prev_Group ISO_Prev_Group_Lock ISO_First_Group
 ISO_First_Group_Lock ISO_Last_Group ISO_Last_Group_Lock - ISO_Level5_Shift ISO_Level5_Latch ISO_Level5_Lock
fe20 ISO_Left_Tab ISO_Move_Line_Up ISO_Move_Line_Down ISO_Partial_Line_Up ISO_Partial_Line_Down
 ISO_Partial_Space_Left ISO_Partial_Space_Right ISO_Set_Margin_Left ISO_Set_Margin_Right
 ISO_Release_Margin_Left ISO_Release_Margin_Right ISO_Release_Both_Margins ISO_Fast_Cursor_Left
 ISO_Fast_Cursor_Right ISO_Fast_Cursor_Up ISO_Fast_Cursor_Down ISO_Continuous_Underline
 ISO_Discontinuous_Underline ISO_Emphasize ISO_Center_Object ISO_Enter
fe50 dead_grave dead_acute dead_circumflex dead_tilde dead_macron dead_breve dead_abovedot dead_diaeresis
 dead_abovering dead_doubleacute dead_caron dead_cedilla dead_ogonek dead_iota dead_voiced_sound
 dead_semivoiced_sound dead_belowdot dead_hook dead_horn dead_stroke dead_abovecomma dead_abovereversedcomma
 dead_doublegrave dead_belowring dead_belowmacron dead_belowcircumflex dead_belowtilde dead_belowbreve
 dead_belowdiaeresis dead_invertedbreve dead_belowcomma dead_currency AccessX_Enable AccessX_Feedback_Enable
 RepeatKeys_Enable SlowKeys_Enable BounceKeys_Enable StickyKeys_Enable MouseKeys_Enable
 MouseKeys_Accel_Enable Overlay1_Enable Overlay2_Enable AudibleBell_Enable
fe80 dead_a dead_A dead_e dead_E dead_i dead_I dead_o dead_O dead_u dead_U dead_small_schwa
 dead_capital_schwa dead_greek
fe90 dead_lowline dead_aboveverticalline dead_belowverticalline dead_longsolidusoverlay
fea0 ch Ch CH c_h C_h C_H
fed0 First_Virtual_Screen Prev_Virtual_Screen Next_Virtual_Screen - Last_Virtual_Screen Terminate_Server
fee0 Pointer_Left Pointer_Right Pointer_Up Pointer_Down Pointer_UpLeft Pointer_UpRight Pointer_DownLeft
 Pointer_DownRight Pointer_Button_Dflt Pointer_Button1 Pointer_Button2 Pointer_Button3 Pointer_Button4
 Pointer_Button5 Pointer_DblClick_Dflt Pointer_DblClick1 Pointer_DblClick2 Pointer_DblClick3
 Pointer_DblClick4 Pointer_DblClick5 Pointer_Drag_Dflt Pointer_Drag1 Pointer_Drag2 Pointer_Drag3
 Pointer_Drag4 Pointer_EnableKeys Pointer_Accelerate Pointer_DfltBtnNext Pointer_DfltBtnPrev Pointer_Drag5
ff08 BackSpace Tab Linefeed Clear - Return
ff13 Pause Scroll_Lock Sys_Req
ff1b Escape
ff20 Multi_key Kanji Muhenkan Henkan_Mode Romaji Hiragana Katakana Hiragana_Katakana Zenkaku Hankaku
 Zenkaku_Hankaku Touroku Massyo Kana_Lock Kana_Shift Eisu_Shift Eisu_toggle Hangul Hangul_Start Hangul_End
 Hangul_Hanja Hangul_Jamo Hangul_Romaja Codeinput Hangul_Jeonja Hangul_Banja Hangul_PreHanja
 Hangul_PostHanja SingleCandidate MultipleCandidate PreviousCandidate Hangul_Special
ff50 Home Left Up Right Down Prior Next End Begin
ff60 Select Print Execute Insert - Undo Redo Menu Find Cancel Help Break
ff7e Mode_switch Num_Lock KP_Space
ff89 KP_Tab
ff8d KP_Enter
ff91 KP_F1 KP_F2 KP_F3 KP_F4 KP_Home KP_Left KP_Up KP_Right KP_Down KP_Prior KP_Next KP_End KP_Begin
 KP_Insert KP_Delete
ffaa KP_Multiply KP_Add KP_Separator KP_Subtract KP_Decimal KP_Divide KP_0 KP_1 KP_2 KP_3 KP_4 KP_5 KP_6
 KP_7 KP_8 KP_9
ffbd KP_Equal F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25 F26
 F27 F28 F29 F30 F31 F32 F33 F34 F35 Shift_L Shift_R Control_L Control_R Caps_Lock Shift_Lock Meta_L Meta_R
 Alt_L Alt_R Super_L Super_R Hyper_L Hyper_R - - braille_dot_1 braille_dot_2 braille_dot_3 braille_dot_4
 braille_dot_5 braille_dot_6 braille_dot_7 braille_dot_8 braille_dot_9 braille_dot_10
ffff Delete
1000100 Amacron amacron Abreve abreve Aogonek aogonek Cacute cacute Ccircumflex ccircumflex Cabovedot
 cabovedot Ccaron ccaron Dcaron dcaron Dstroke dstroke Emacron emacron - - Eabovedot eabovedot Eogonek
 eogonek Ecaron ecaron Gcircumflex gcircumflex Gbreve gbreve Gabovedot gabovedot Gcedilla gcedilla
 Hcircumflex hcircumflex Hstroke hstroke Itilde itilde Imacron imacron Ibreve ibreve Iogonek iogonek
 Iabovedot idotless - - Jcircumflex jcircumflex Kcedilla kcedilla kra Lacute lacute Lcedilla lcedilla Lcaron
 lcaron - - Lstroke lstroke Nacute nacute Ncedilla ncedilla Ncaron ncaron - ENG eng Omacron omacron - -
 Odoubleacute odoubleacute OE oe Racute racute Rcedilla rcedilla Rcaron rcaron Sacute sacute Scircumflex
 scircumflex Scedilla scedilla Scaron scaron Tcedilla tcedilla Tcaron tcaron Tslash tslash Utilde utilde
 Umacron umacron Ubreve ubreve Uring uring Udoubleacute udoubleacute Uogonek uogonek Wcircumflex wcircumflex
 Ycircumflex ycircumflex Ydiaeresis Zacute zacute Zabovedot zabovedot Zcaron zcaron
100018f SCHWA - - function
100019f Obarred Ohorn ohorn
10001af Uhorn uhorn
10001b5 Zstroke zstroke EZH
10001d1 Ocaron ocaron
10001e6 Gcaron gcaron
1000259 schwa
1000275 obarred
1000292 ezh
10002c7 caron
10002d8 breve abovedot - ogonek - doubleacute
1000300 combining_grave combining_acute - combining_tilde
1000309 combining_hook
1000323 combining_belowdot
1000385 Greek_accentdieresis Greek_ALPHAaccent - Greek_EPSILONaccent Greek_ETAaccent Greek_IOTAaccent -
 Greek_OMICRONaccent - Greek_UPSILONaccent Greek_OMEGAaccent Greek_iotaaccentdieresis Greek_ALPHA Greek_BETA
 Greek_GAMMA Greek_DELTA Greek_EPSILON Greek_ZETA Greek_ETA Greek_THETA Greek_IOTA Greek_KAPPA Greek_LAMDA
 Greek_MU Greek_NU Greek_XI Greek_OMICRON Greek_PI Greek_RHO - Greek_SIGMA Greek_TAU Greek_UPSILON Greek_PHI
 Greek_CHI Greek_PSI Greek_OMEGA Greek_IOTAdieresis Greek_UPSILONdieresis Greek_alphaaccent
 Greek_epsilonaccent Greek_etaaccent Greek_iotaaccent Greek_upsilonaccentdieresis Greek_alpha Greek_beta
 Greek_gamma Greek_delta Greek_epsilon Greek_zeta Greek_eta Greek_theta Greek_iota Greek_kappa Greek_lamda
 Greek_mu Greek_nu Greek_xi Greek_omicron Greek_pi Greek_rho Greek_finalsmallsigma Greek_sigma Greek_tau
 Greek_upsilon Greek_phi Greek_chi Greek_psi Greek_omega Greek_iotadieresis Greek_upsilondieresis
 Greek_omicronaccent Greek_upsilonaccent Greek_omegaaccent
1000401 Cyrillic_IO Serbian_DJE Macedonia_GJE Ukrainian_IE Macedonia_DSE Ukrainian_I Ukrainian_YI
 Cyrillic_JE Cyrillic_LJE Cyrillic_NJE Serbian_TSHE Macedonia_KJE - Byelorussian_SHORTU Cyrillic_DZHE
 Cyrillic_A Cyrillic_BE Cyrillic_VE Cyrillic_GHE Cyrillic_DE Cyrillic_IE Cyrillic_ZHE Cyrillic_ZE Cyrillic_I
 Cyrillic_SHORTI Cyrillic_KA Cyrillic_EL Cyrillic_EM Cyrillic_EN Cyrillic_O Cyrillic_PE Cyrillic_ER
 Cyrillic_ES Cyrillic_TE Cyrillic_U Cyrillic_EF Cyrillic_HA Cyrillic_TSE Cyrillic_CHE Cyrillic_SHA
 Cyrillic_SHCHA Cyrillic_HARDSIGN Cyrillic_YERU Cyrillic_SOFTSIGN Cyrillic_E Cyrillic_YU Cyrillic_YA
 Cyrillic_a Cyrillic_be Cyrillic_ve Cyrillic_ghe Cyrillic_de Cyrillic_ie Cyrillic_zhe Cyrillic_ze Cyrillic_i
 Cyrillic_shorti Cyrillic_ka Cyrillic_el Cyrillic_em Cyrillic_en Cyrillic_o Cyrillic_pe Cyrillic_er
 Cyrillic_es Cyrillic_te Cyrillic_u Cyrillic_ef Cyrillic_ha Cyrillic_tse Cyrillic_che Cyrillic_sha
 Cyrillic_shcha Cyrillic_hardsign Cyrillic_yeru Cyrillic_softsign Cyrillic_e Cyrillic_yu Cyrillic_ya -
 Cyrillic_io Serbian_dje Macedonia_gje Ukrainian_ie Macedonia_dse Ukrainian_i Ukrainian_yi Cyrillic_je
 Cyrillic_lje Cyrillic_nje Serbian_tshe Macedonia_kje - Byelorussian_shortu Cyrillic_dzhe
1000490 Ukrainian_GHE_WITH_UPTURN Ukrainian_ghe_with_upturn Cyrillic_GHE_bar Cyrillic_ghe_bar - -
 Cyrillic_ZHE_descender Cyrillic_zhe_descender - - Cyrillic_KA_descender Cyrillic_ka_descender
 Cyrillic_KA_vertstroke Cyrillic_ka_vertstroke
10004a2 Cyrillic_EN_descender Cyrillic_en_descender
10004ae Cyrillic_U_straight Cyrillic_u_straight Cyrillic_U_straight_bar Cyrillic_u_straight_bar
 Cyrillic_HA_descender Cyrillic_ha_descender - - Cyrillic_CHE_descender Cyrillic_che_descender
 Cyrillic_CHE_vertstroke Cyrillic_che_vertstroke Cyrillic_SHHA Cyrillic_shha
10004d8 Cyrillic_SCHWA Cyrillic_schwa
10004e2 Cyrillic_I_macron Cyrillic_i_macron
10004e8 Cyrillic_O_bar Cyrillic_o_bar
10004ee Cyrillic_U_macron Cyrillic_u_macron
1000531 Armenian_AYB Armenian_BEN Armenian_GIM Armenian_DA Armenian_YECH Armenian_ZA Armenian_E Armenian_AT
 Armenian_TO Armenian_ZHE Armenian_INI Armenian_LYUN Armenian_KHE Armenian_TSA Armenian_KEN Armenian_HO
 Armenian_DZA Armenian_GHAT Armenian_TCHE Armenian_MEN Armenian_HI Armenian_NU Armenian_SHA Armenian_VO
 Armenian_CHA Armenian_PE Armenian_JE Armenian_RA Armenian_SE Armenian_VEV Armenian_TYUN Armenian_RE
 Armenian_TSO Armenian_VYUN Armenian_PYUR Armenian_KE Armenian_O Armenian_FE
100055a Armenian_apostrophe Armenian_accent Armenian_exclam Armenian_separation_mark Armenian_question - -
 Armenian_ayb Armenian_ben Armenian_gim Armenian_da Armenian_yech Armenian_za Armenian_e Armenian_at
 Armenian_to Armenian_zhe Armenian_ini Armenian_lyun Armenian_khe Armenian_tsa Armenian_ken Armenian_ho
 Armenian_dza Armenian_ghat Armenian_tche Armenian_men Armenian_hi Armenian_nu Armenian_sha Armenian_vo
 Armenian_cha Armenian_pe Armenian_je Armenian_ra Armenian_se Armenian_vev Armenian_tyun Armenian_re
 Armenian_tso Armenian_vyun Armenian_pyur Armenian_ke Armenian_o Armenian_fe Armenian_ligature_ew -
 Armenian_full_stop Armenian_hyphen
10005d0 hebrew_aleph hebrew_bet hebrew_gimel hebrew_dalet hebrew_he hebrew_waw hebrew_zain hebrew_chet
 hebrew_tet hebrew_yod hebrew_finalkaph hebrew_kaph hebrew_lamed hebrew_finalmem hebrew_mem hebrew_finalnun
 hebrew_nun hebrew_samech hebrew_ayin hebrew_finalpe hebrew_pe hebrew_finalzade hebrew_zade hebrew_qoph
 hebrew_resh hebrew_shin hebrew_taw
100060c Arabic_comma
100061b Arabic_semicolon
100061f Arabic_question_mark - Arabic_hamza Arabic_maddaonalef Arabic_hamzaonalef Arabic_hamzaonwaw
 Arabic_hamzaunderalef Arabic_hamzaonyeh Arabic_alef Arabic_beh Arabic_tehmarbuta Arabic_teh Arabic_theh
 Arabic_jeem Arabic_hah Arabic_khah Arabic_dal Arabic_thal Arabic_ra Arabic_zain Arabic_seen Arabic_sheen
 Arabic_sad Arabic_dad Arabic_tah Arabic_zah Arabic_ain Arabic_ghain
1000640 Arabic_tatweel Arabic_feh Arabic_qaf Arabic_kaf Arabic_lam Arabic_meem Arabic_noon Arabic_ha
 Arabic_waw Arabic_alefmaksura Arabic_yeh Arabic_fathatan Arabic_dammatan Arabic_kasratan Arabic_fatha
 Arabic_damma Arabic_kasra Arabic_shadda Arabic_sukun Arabic_madda_above Arabic_hamza_above
 Arabic_hamza_below
1000660 Arabic_0 Arabic_1 Arabic_2 Arabic_3 Arabic_4 Arabic_5 Arabic_6 Arabic_7 Arabic_8 Arabic_9
 Arabic_percent
1000670 Arabic_superscript_alef
1000679 Arabic_tteh
100067e Arabic_peh
1000686 Arabic_tcheh - Arabic_ddal
1000691 Arabic_rreh
1000698 Arabic_jeh
10006a4 Arabic_veh
10006a9 Arabic_keheh
10006af Arabic_gaf
10006ba Arabic_noon_ghunna
10006be Arabic_heh_doachashmee - - Arabic_heh_goal
10006cc Farsi_yeh
10006d2 Arabic_yeh_baree - Arabic_fullstop
10006f0 Farsi_0 Farsi_1 Farsi_2 Farsi_3 Farsi_4 Farsi_5 Farsi_6 Farsi_7 Farsi_8 Farsi_9
1000d82 Sinh_ng Sinh_h2 - Sinh_a Sinh_aa Sinh_ae Sinh_aee Sinh_i Sinh_ii Sinh_u Sinh_uu Sinh_ri Sinh_rii
 Sinh_lu Sinh_luu Sinh_e Sinh_ee Sinh_ai Sinh_o Sinh_oo Sinh_au
1000d9a Sinh_ka Sinh_kha Sinh_ga Sinh_gha Sinh_ng2 Sinh_nga Sinh_ca Sinh_cha Sinh_ja Sinh_jha Sinh_nya
 Sinh_jnya Sinh_nja Sinh_tta Sinh_ttha Sinh_dda Sinh_ddha Sinh_nna Sinh_ndda Sinh_tha Sinh_thha Sinh_dha
 Sinh_dhha Sinh_na - Sinh_ndha Sinh_pa Sinh_pha Sinh_ba Sinh_bha Sinh_ma Sinh_mba Sinh_ya Sinh_ra - Sinh_la
 - - Sinh_va Sinh_sha Sinh_ssha Sinh_sa Sinh_ha Sinh_lla Sinh_fa
1000dca Sinh_al
1000dcf Sinh_aa2 Sinh_ae2 Sinh_aee2 Sinh_i2 Sinh_ii2 Sinh_u2 - Sinh_uu2 - Sinh_ru2 Sinh_e2 Sinh_ee2 Sinh_ai2
 Sinh_o2 Sinh_oo2 Sinh_au2 Sinh_lu2
1000df2 Sinh_ruu2 Sinh_luu2 Sinh_kunddaliya
1000e01 Thai_kokai Thai_khokhai Thai_khokhuat Thai_khokhwai Thai_khokhon Thai_khorakhang Thai_ngongu
 Thai_chochan Thai_choching Thai_chochang Thai_soso Thai_chochoe Thai_yoying Thai_dochada Thai_topatak
 Thai_thothan Thai_thonangmontho Thai_thophuthao Thai_nonen Thai_dodek Thai_totao Thai_thothung
 Thai_thothahan Thai_thothong Thai_nonu Thai_bobaimai Thai_popla Thai_phophung Thai_fofa Thai_phophan
 Thai_fofan Thai_phosamphao Thai_moma Thai_yoyak Thai_rorua Thai_ru Thai_loling Thai_lu Thai_wowaen
 Thai_sosala Thai_sorusi Thai_sosua Thai_hohip Thai_lochula Thai_oang Thai_honokhuk Thai_paiyannoi
 Thai_saraa Thai_maihanakat Thai_saraaa Thai_saraam Thai_sarai Thai_saraii Thai_saraue Thai_sarauee
 Thai_sarau Thai_sarauu Thai_phinthu
1000e3f Thai_baht Thai_sarae Thai_saraae Thai_sarao Thai_saraaimaimuan Thai_saraaimaimalai Thai_lakkhangyao
 Thai_maiyamok Thai_maitaikhu Thai_maiek Thai_maitho Thai_maitri Thai_maichattawa Thai_thanthakhat
 Thai_nikhahit - - Thai_leksun Thai_leknung Thai_leksong Thai_leksam Thai_leksi Thai_lekha Thai_lekhok
 Thai_lekchet Thai_lekpaet Thai_lekkao
10010d0 Georgian_an Georgian_ban Georgian_gan Georgian_don Georgian_en Georgian_vin Georgian_zen
 Georgian_tan Georgian_in Georgian_kan Georgian_las Georgian_man Georgian_nar Georgian_on Georgian_par
 Georgian_zhar Georgian_rae Georgian_san Georgian_tar Georgian_un Georgian_phar Georgian_khar Georgian_ghan
 Georgian_qar Georgian_shin Georgian_chin Georgian_can Georgian_jil Georgian_cil Georgian_char Georgian_xan
 Georgian_jhan Georgian_hae Georgian_he Georgian_hie Georgian_we Georgian_har Georgian_hoe Georgian_fi
10011a8 Hangul_J_Kiyeog Hangul_J_SsangKiyeog Hangul_J_KiyeogSios Hangul_J_Nieun Hangul_J_NieunJieuj
 Hangul_J_NieunHieuh Hangul_J_Dikeud Hangul_J_Rieul Hangul_J_RieulKiyeog Hangul_J_RieulMieum
 Hangul_J_RieulPieub Hangul_J_RieulSios Hangul_J_RieulTieut Hangul_J_RieulPhieuf Hangul_J_RieulHieuh
 Hangul_J_Mieum Hangul_J_Pieub Hangul_J_PieubSios Hangul_J_Sios Hangul_J_SsangSios Hangul_J_Ieung
 Hangul_J_Jieuj Hangul_J_Cieuc Hangul_J_Khieuq Hangul_J_Tieut Hangul_J_Phieuf Hangul_J_Hieuh
10011eb Hangul_J_PanSios
10011f0 Hangul_J_KkogjiDalrinIeung
10011f9 Hangul_J_YeorinHieuh
1001e02 Babovedot babovedot
1001e0a Dabovedot dabovedot
1001e1e Fabovedot fabovedot
1001e36 Lbelowdot lbelowdot
1001e40 Mabovedot mabovedot
1001e56 Pabovedot pabovedot
1001e60 Sabovedot sabovedot
1001e6a Tabovedot tabovedot
1001e80 Wgrave wgrave Wacute wacute Wdiaeresis wdiaeresis
1001e8a Xabovedot xabovedot
1001ea0 Abelowdot abelowdot Ahook ahook Acircumflexacute acircumflexacute Acircumflexgrave acircumflexgrave
 Acircumflexhook acircumflexhook Acircumflextilde acircumflextilde Acircumflexbelowdot acircumflexbelowdot
 Abreveacute abreveacute Abrevegrave abrevegrave Abrevehook abrevehook Abrevetilde abrevetilde
 Abrevebelowdot abrevebelowdot Ebelowdot ebelowdot Ehook ehook Etilde etilde Ecircumflexacute
 ecircumflexacute Ecircumflexgrave ecircumflexgrave Ecircumflexhook ecircumflexhook Ecircumflextilde
 ecircumflextilde Ecircumflexbelowdot ecircumflexbelowdot Ihook ihook Ibelowdot ibelowdot Obelowdot
 obelowdot Ohook ohook Ocircumflexacute ocircumflexacute Ocircumflexgrave ocircumflexgrave Ocircumflexhook
 ocircumflexhook Ocircumflextilde ocircumflextilde Ocircumflexbelowdot ocircumflexbelowdot Ohornacute
 ohornacute Ohorngrave ohorngrave Ohornhook ohornhook Ohorntilde ohorntilde Ohornbelowdot ohornbelowdot
 Ubelowdot ubelowdot Uhook uhook Uhornacute uhornacute Uhorngrave uhorngrave Uhornhook uhornhook Uhorntilde
 uhorntilde Uhornbelowdot uhornbelowdot Ygrave ygrave Ybelowdot ybelowdot Yhook yhook Ytilde ytilde
1002002 enspace emspace em3space em4space - digitspace punctspace thinspace hairspace
1002012 figdash endash emdash Greek_horizbar - hebrew_doublelowline leftsinglequotemark rightsinglequotemark
 singlelowquotemark - leftdoublequotemark rightdoublequotemark doublelowquotemark - dagger doubledagger
 enfilledcircbullet - - doubbaselinedot ellipsis
1002030 permille - minutes seconds
1002038 caret
100203e overline
1002070 zerosuperior
1002074 foursuperior fivesuperior sixsuperior sevensuperior eightsuperior ninesuperior
1002080 zerosubscript onesubscript twosubscript threesubscript foursubscript fivesubscript sixsubscript
 sevensubscript eightsubscript ninesubscript
10020a0 EcuSign ColonSign CruzeiroSign FFrancSign LiraSign MillSign NairaSign PesetaSign RupeeSign
 Korean_Won NewSheqelSign DongSign EuroSign
1002105 careof
1002116 numerosign phonographcopyright
100211e prescription
1002122 trademark
1002153 onethird twothirds onefifth twofifths threefifths fourfifths onesixth fivesixths oneeighth
 threeeighths fiveeighths seveneighths
1002190 leftarrow uparrow rightarrow downarrow
10021d2 implies - ifonlyif
1002202 partialderivative - - emptyset - nabla elementof notelementof - containsas
1002218 jot - radical cuberoot fourthroot variation infinity
1002227 logicaland logicalor intersection union integral dintegral tintegral
1002234 therefore because
100223c approximate
1002243 similarequal
1002247 notapproxeq approxeq
1002260 notequal identical notidentical stricteq lessthanequal greaterthanequal
1002282 includedin includes
10022a2 righttack lefttack downtack uptack
1002308 upstile - downstile
1002315 telephonerecorder
1002320 topintegral botintegral
1002329 leftanglebracket rightanglebracket
1002395 quad
100239b topleftparens - botleftparens toprightparens - botrightparens topleftsqbracket - botleftsqbracket
 toprightsqbracket - botrightsqbracket - leftmiddlecurlybrace
10023ac rightmiddlecurlybrace
10023b7 leftradical - - horizlinescan1 horizlinescan3 horizlinescan7 horizlinescan9
1002409 ht lf vt ff cr
1002423 signifblank nl
1002500 horizconnector - vertconnector
100250c topleftradical
1002510 uprightcorner
1002514 lowleftcorner
1002518 lowrightcorner
100251c leftt
1002524 rightt
100252c topt
1002534 bott
100253c crossinglines
1002592 checkerboard
10025aa enfilledsqbullet enopensquarebullet filledrectbullet openrectbullet emfilledrect emopenrectangle - -
 filledtribulletup opentribulletup - - filledrighttribullet rightopentriangle
10025bc filledtribulletdown opentribulletdown - - filledlefttribullet leftopentriangle
10025c6 soliddiamond
10025cb emopencircle
10025cf emfilledcircle
10025e6 enopencircbullet
1002606 openstar
100260e telephone
1002613 signaturemark
100261c leftpointer - rightpointer
1002640 femalesymbol - malesymbol
1002663 club - heart diamond
100266d musicalflat - musicalsharp
1002713 checkmark
1002717 ballotcross
100271d latincross - - maltesecross
1002800 braille_blank braille_dots_1 braille_dots_2 braille_dots_12 braille_dots_3 braille_dots_13
 braille_dots_23 braille_dots_123 braille_dots_4 braille_dots_14 braille_dots_24 braille_dots_124
 braille_dots_34 braille_dots_134 braille_dots_234 braille_dots_1234 braille_dots_5 braille_dots_15
 braille_dots_25 braille_dots_125 braille_dots_35 braille_dots_135 braille_dots_235 braille_dots_1235
 braille_dots_45 braille_dots_145 braille_dots_245 braille_dots_1245 braille_dots_345 braille_dots_1345
 braille_dots_2345 braille_dots_12345 braille_dots_6 braille_dots_16 braille_dots_26 braille_dots_126
 braille_dots_36 braille_dots_136 braille_dots_236 braille_dots_1236 braille_dots_46 braille_dots_146
 braille_dots_246 braille_dots_1246 braille_dots_346 braille_dots_1346 braille_dots_2346 braille_dots_12346
 braille_dots_56 braille_dots_156 braille_dots_256 braille_dots_1256 braille_dots_356 braille_dots_1356
 braille_dots_2356 braille_dots_12356 braille_dots_456 braille_dots_1456 braille_dots_2456
 braille_dots_12456 braille_dots_3456 braille_dots_13456 braille_dots_23456 braille_dots_123456
 braille_dots_7 braille_dots_17 braille_dots_27 braille_dots_127 braille_dots_37 braille_dots_137
 braille_dots_237 braille_dots_1237 braille_dots_47 braille_dots_147 braille_dots_247 braille_dots_1247
 braille_dots_347 braille_dots_1347 braille_dots_2347 braille_dots_12347 braille_dots_57 braille_dots_157
 braille_dots_257 braille_dots_1257 braille_dots_357 braille_dots_1357 braille_dots_2357 braille_dots_12357
 braille_dots_457 braille_dots_1457 braille_dots_2457 braille_dots_12457 braille_dots_3457
 braille_dots_13457 braille_dots_23457 braille_dots_123457 braille_dots_67 braille_dots_167 braille_dots_267
 braille_dots_1267 braille_dots_367 braille_dots_1367 braille_dots_2367 braille_dots_12367 braille_dots_467
 braille_dots_1467 braille_dots_2467 braille_dots_12467 braille_dots_3467 braille_dots_13467
 braille_dots_23467 braille_dots_123467 braille_dots_567 braille_dots_1567 braille_dots_2567
 braille_dots_12567 braille_dots_3567 braille_dots_13567 braille_dots_23567 braille_dots_123567
 braille_dots_4567 braille_dots_14567 braille_dots_24567 braille_dots_124567 braille_dots_34567
 braille_dots_134567 braille_dots_234567 braille_dots_1234567 braille_dots_8 braille_dots_18 braille_dots_28
 braille_dots_128 braille_dots_38 braille_dots_138 braille_dots_238 braille_dots_1238 braille_dots_48
 braille_dots_148 braille_dots_248 braille_dots_1248 braille_dots_348 braille_dots_1348 braille_dots_2348
 braille_dots_12348 braille_dots_58 braille_dots_158 braille_dots_258 braille_dots_1258 braille_dots_358
 braille_dots_1358 braille_dots_2358 braille_dots_12358 braille_dots_458 braille_dots_1458 braille_dots_2458
 braille_dots_12458 braille_dots_3458 braille_dots_13458 braille_dots_23458 braille_dots_123458
 braille_dots_68 braille_dots_168 braille_dots_268 braille_dots_1268 braille_dots_368 braille_dots_1368
 braille_dots_2368 braille_dots_12368 braille_dots_468 braille_dots_1468 braille_dots_2468
 braille_dots_12468 braille_dots_3468 braille_dots_13468 braille_dots_23468 braille_dots_123468
 braille_dots_568 braille_dots_1568 braille_dots_2568 braille_dots_12568 braille_dots_3568
 braille_dots_13568 braille_dots_23568 braille_dots_123568 braille_dots_4568 braille_dots_14568
 braille_dots_24568 braille_dots_124568 braille_dots_34568 braille_dots_134568 braille_dots_234568
 braille_dots_1234568 braille_dots_78 braille_dots_178 braille_dots_278 braille_dots_1278 braille_dots_378
 braille_dots_1378 braille_dots_2378 braille_dots_12378 braille_dots_478 braille_dots_1478 braille_dots_2478
 braille_dots_12478 braille_dots_3478 braille_dots_13478 braille_dots_23478 braille_dots_123478
 braille_dots_578 braille_dots_1578 braille_dots_2578 braille_dots_12578 braille_dots_3578
 braille_dots_13578 braille_dots_23578 braille_dots_123578 braille_dots_4578 braille_dots_14578
 braille_dots_24578 braille_dots_124578 braille_dots_34578 braille_dots_134578 braille_dots_234578
 braille_dots_1234578 braille_dots_678 braille_dots_1678 braille_dots_2678 braille_dots_12678
 braille_dots_3678 braille_dots_13678 braille_dots_23678 braille_dots_123678 braille_dots_4678
 braille_dots_14678 braille_dots_24678 braille_dots_124678 braille_dots_34678 braille_dots_134678
 braille_dots_234678 braille_dots_1234678 braille_dots_5678 braille_dots_15678 braille_dots_25678
 braille_dots_125678 braille_dots_35678 braille_dots_135678 braille_dots_235678 braille_dots_1235678
 braille_dots_45678 braille_dots_145678 braille_dots_245678 braille_dots_1245678 braille_dots_345678
 braille_dots_1345678 braille_dots_2345678 braille_dots_12345678
1003001 kana_comma kana_fullstop
100300c kana_openingbracket kana_closingbracket
100309b voicedsound semivoicedsound
10030a1 kana_a kana_A kana_i kana_I kana_u kana_U kana_e kana_E kana_o kana_O kana_KA - kana_KI - kana_KU -
 kana_KE - kana_KO - kana_SA - kana_SHI - kana_SU - kana_SE - kana_SO - kana_TA - kana_CHI - kana_tsu
 kana_TSU - kana_TE - kana_TO - kana_NA kana_NI kana_NU kana_NE kana_NO kana_HA - - kana_HI - - kana_FU - -
 kana_HE - - kana_HO - - kana_MA kana_MI kana_MU kana_ME kana_MO kana_ya kana_YA kana_yu kana_YU kana_yo
 kana_YO kana_RA kana_RI kana_RU kana_RE kana_RO - kana_WA - - kana_WO kana_N
10030fb kana_conjunctive prolongedsound
1003131 Hangul_Kiyeog Hangul_SsangKiyeog Hangul_KiyeogSios Hangul_Nieun Hangul_NieunJieuj Hangul_NieunHieuh
 Hangul_Dikeud Hangul_SsangDikeud Hangul_Rieul Hangul_RieulKiyeog Hangul_RieulMieum Hangul_RieulPieub
 Hangul_RieulSios Hangul_RieulTieut Hangul_RieulPhieuf Hangul_RieulHieuh Hangul_Mieum Hangul_Pieub
 Hangul_SsangPieub Hangul_PieubSios Hangul_Sios Hangul_SsangSios Hangul_Ieung Hangul_Jieuj Hangul_SsangJieuj
 Hangul_Cieuc Hangul_Khieuq Hangul_Tieut Hangul_Phieuf Hangul_Hieuh Hangul_A Hangul_AE Hangul_YA Hangul_YAE
 Hangul_EO Hangul_E Hangul_YEO Hangul_YE Hangul_O Hangul_WA Hangul_WAE Hangul_OE Hangul_YO Hangul_U
 Hangul_WEO Hangul_WE Hangul_WI Hangul_YU Hangul_EU Hangul_YI Hangul_I
100316d Hangul_RieulYeorinHieuh
1003171 Hangul_SunkyeongeumMieum
1003178 Hangul_SunkyeongeumPieub
100317f Hangul_PanSios - Hangul_KkogjiDalrinIeung - - Hangul_SunkyeongeumPhieuf - Hangul_YeorinHieuh
100318d Hangul_AraeA Hangul_AraeAE
1008fe01 XF86Switch_VT_1 XF86Switch_VT_2 XF86Switch_VT_3 XF86Switch_VT_4 XF86Switch_VT_5 XF86Switch_VT_6
 XF86Switch_VT_7 XF86Switch_VT_8 XF86Switch_VT_9 XF86Switch_VT_10 XF86Switch_VT_11 XF86Switch_VT_12
1008fe20 XF86Ungrab XF86ClearGrab XF86Next_VMode XF86Prev_VMode XF86LogWindowTree XF86LogGrabInfo
1008ff01 XF86ModeLock XF86MonBrightnessUp XF86MonBrightnessDown XF86KbdLightOnOff XF86KbdBrightnessUp
 XF86KbdBrightnessDown XF86MonBrightnessCycle
1008ff10 XF86Standby XF86AudioLowerVolume XF86AudioMute XF86AudioRaiseVolume XF86AudioPlay XF86AudioStop
 XF86AudioPrev XF86AudioNext XF86HomePage XF86Mail XF86Start XF86Search XF86AudioRecord XF86Calculator
 XF86Memo XF86ToDoList XF86Calendar XF86PowerDown XF86ContrastAdjust XF86RockerUp XF86RockerDown
 XF86RockerEnter XF86Back XF86Forward XF86Stop XF86Refresh XF86PowerOff XF86WakeUp XF86Eject XF86ScreenSaver
 XF86WWW XF86Sleep XF86Favorites XF86AudioPause XF86AudioMedia XF86MyComputer XF86VendorHome XF86LightBulb
 XF86Shop XF86History XF86OpenURL XF86AddFavorite XF86HotLinks XF86BrightnessAdjust XF86Finance
 XF86Community XF86AudioRewind XF86BackForward XF86Launch0 XF86Launch1 XF86Launch2 XF86Launch3 XF86Launch4
 XF86Launch5 XF86Launch6 XF86Launch7 XF86Launch8 XF86Launch9 XF86LaunchA XF86LaunchB XF86LaunchC XF86LaunchD
 XF86LaunchE XF86LaunchF XF86ApplicationLeft XF86ApplicationRight XF86Book XF86CD XF86Calculater XF86Clear
 XF86Close XF86Copy XF86Cut XF86Display XF86DOS XF86Documents XF86Excel XF86Explorer XF86Game XF86Go
 XF86iTouch XF86LogOff XF86Market XF86Meeting - XF86MenuKB XF86MenuPB XF86MySites XF86New XF86News
 XF86OfficeHome XF86Open XF86Option XF86Paste XF86Phone - XF86Q - XF86Reply XF86Reload XF86RotateWindows
 XF86RotationPB XF86RotationKB XF86Save XF86ScrollUp XF86ScrollDown XF86ScrollClick XF86Send XF86Spell
 XF86SplitScreen XF86Support XF86TaskPane XF86Terminal XF86Tools XF86Travel - XF86UserPB XF86User1KB
 XF86User2KB XF86Video XF86WheelButton XF86Word XF86Xfer XF86ZoomIn XF86ZoomOut XF86Away XF86Messenger
 XF86WebCam XF86MailForward XF86Pictures XF86Music XF86Battery XF86Bluetooth XF86WLAN XF86UWB
 XF86AudioForward XF86AudioRepeat XF86AudioRandomPlay XF86Subtitle XF86AudioCycleTrack XF86CycleAngle
 XF86FrameBack XF86FrameForward XF86Time XF86Select XF86View XF86TopMenu XF86Red XF86Green XF86Yellow
 XF86Blue XF86Suspend XF86Hibernate XF86TouchpadToggle
1008ffb0 XF86TouchpadOn XF86TouchpadOff XF86AudioMicMute XF86Keyboard XF86WWAN XF86RFKill XF86AudioPreset
 XF86RotationLockToggle XF86FullScreen
`

/** Further names for the same. */
export const KEYSYM_ALIASES = `
Henkan=Henkan_Mode Kanji_Bangou=Codeinput Zen_Koho=MultipleCandidate Mae_Koho=PreviousCandidate
Page_Up=Prior Page_Down=Next script_switch=Mode_switch KP_Page_Up=KP_Prior KP_Page_Down=KP_Next L1=F11
L2=F12 L3=F13 L4=F14 L5=F15 L6=F16 L7=F17 L8=F18 L9=F19 L10=F20 R1=F21 R2=F22 R3=F23 R4=F24 R5=F25 R6=F26
R7=F27 R8=F28 R9=F29 R10=F30 R11=F31 R12=F32 R13=F33 R14=F34 R15=F35 ISO_Group_Shift=Mode_switch
dead_perispomeni=dead_tilde dead_psili=dead_abovecomma dead_dasia=dead_abovereversedcomma
quoteright=apostrophe quoteleft=grave Eth=ETH Ooblique=Oslash Thorn=THORN ooblique=oslash kappa=kra
kana_middledot=kana_conjunctive kana_tu=kana_tsu kana_TI=kana_CHI kana_TU=kana_TSU kana_HU=kana_FU
kana_switch=Mode_switch Arabic_heh=Arabic_ha Arabic_farsi_yeh=Farsi_yeh Arabic_switch=Mode_switch
Ukranian_je=Ukrainian_ie Ukranian_i=Ukrainian_i Ukranian_yi=Ukrainian_yi Serbian_je=Cyrillic_je
Serbian_lje=Cyrillic_lje Serbian_nje=Cyrillic_nje Serbian_dze=Cyrillic_dzhe Ukranian_JE=Ukrainian_IE
Ukranian_I=Ukrainian_I Ukranian_YI=Ukrainian_YI Serbian_JE=Cyrillic_JE Serbian_LJE=Cyrillic_LJE
Serbian_NJE=Cyrillic_NJE Serbian_DZE=Cyrillic_DZHE Greek_IOTAdiaeresis=Greek_IOTAdieresis
Greek_LAMBDA=Greek_LAMDA Greek_lambda=Greek_lamda Greek_switch=Mode_switch upleftcorner=topleftradical
horizlinescan5=horizconnector vertbar=vertconnector decimalpoint=period leftcaret=less rightcaret=greater
downcaret=logicalor upcaret=logicaland overbar=macron upshoe=intersection underbar=underscore
circle=emopencircle downshoe=union rightshoe=includes leftshoe=includedin hebrew_beth=hebrew_bet
hebrew_gimmel=hebrew_gimel hebrew_daleth=hebrew_dalet hebrew_zayin=hebrew_zain hebrew_het=hebrew_chet
hebrew_teth=hebrew_tet hebrew_samekh=hebrew_samech hebrew_finalzadi=hebrew_finalzade hebrew_zadi=hebrew_zade
hebrew_kuf=hebrew_qoph hebrew_taf=hebrew_taw Hebrew_switch=Mode_switch Hangul_Codeinput=Codeinput
Hangul_SingleCandidate=SingleCandidate Hangul_MultipleCandidate=MultipleCandidate
Hangul_PreviousCandidate=PreviousCandidate Hangul_switch=Mode_switch Armenian_verjaket=Armenian_full_stop
Armenian_but=Armenian_separation_mark Armenian_yentamna=Armenian_hyphen Armenian_amanak=Armenian_exclam
Armenian_shesht=Armenian_accent Armenian_paruyk=Armenian_question WonSign=Korean_Won
partdifferential=partialderivative squareroot=radical
`
