package locale

// turkishAudit are the sentences of the audit.
var turkishAudit = map[string]string{
	"%d actions": "%d eylem",
	"1 action":   "1 eylem",
	"Action":     "Eylem",
	"Every requeue, deletion, pause and edit by a person is written down here.": "Bir kişinin yaptığı her yeniden kuyruğa alma, silme, duraklatma ve düzenleme buraya yazılır.",
	"Filter":                          "Süz",
	"Filter the audit":                "Denetimi süz",
	"How many":                        "Kaç tane",
	"Names are taken literally.":      "Adlar olduğu gibi alınır.",
	"No action matches":               "Eşleşen eylem yok",
	"Nobody has changed anything yet": "Henüz kimse bir şey değiştirmedi",
	"On":                              "Neyin üzerinde",
	"Show every action":               "Bütün eylemleri göster",
	"The audit":                       "Denetim listesi",
	"What":                            "Ne",
	"What people did":                 "Kişilerin yaptıkları",
	"Who":                             "Kim",
	"copied from job %s":              "kopyalandığı iş: %s",
	"recurring %s":                    "yinelenen iş %s",
}
